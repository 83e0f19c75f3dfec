/** What guardians cost while their command runs. Each test has its command in a cgroup where one may be made, and then in none. */
import { expect, test } from "vitest";
import { createMark, createOutput, startRunner, WAYS } from "./helpers.ts";

/** Of a processor, in hundredths of a second as /proc/PID/stat counts them, within two seconds. */
const LITTLE = 30;

test.each(WAYS)("a guardian sleeps while its command runs, $name", async ({ before }) => {
  const out = createOutput();
  const command: [string, ...string[]] = ["sh", "-c", "sleep 2; cat /proc/$PPID/stat > $OUT"]; // its parent is the inner guardian
  const run = startRunner(createMark(), { command }, { OUT: out.path }, before);
  expect((await run.ended).code).toBe(0);
  const [, user, system] = /\) (?:\S+ ){11}(\d+) (\d+) /.exec(out.lines()[0] ?? "") ?? [];
  expect(Number(user) + Number(system)).toBeLessThan(LITTLE);
});
