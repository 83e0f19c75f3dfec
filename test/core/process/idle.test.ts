/** Processor use of guardians. Each test runs its command in a cgroup, if one can be created, and without one. */
import { expect, test } from "vitest";
import { createMark, createOutput, startRunner, WAYS } from "../../../fixtures/process/guarded-processes.ts";

/** Maximum processor time within two seconds, in hundredths of a second, as in /proc/PID/stat. */
const LITTLE = 30;

test.each(WAYS)("a guardian sleeps while its command runs, $name", async ({ before }) => {
  const out = createOutput();
  const command: [string, ...string[]] = ["sh", "-c", "sleep 2; cat /proc/$PPID/stat > $OUT"]; // its parent is the inner guardian
  const run = startRunner(createMark(), { command }, { OUT: out.path }, before);
  expect(await run.ended).toExit(0);
  const [, user, system] = /\) (?:\S+ ){11}(\d+) (\d+) /.exec(out.lines()[0] ?? "") ?? [];
  expect(Number(user) + Number(system)).toBeLessThan(LITTLE);
});
