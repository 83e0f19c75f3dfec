/** Backfill by the command, with workers that are killed meanwhile. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, splitFirst } from "../../../fixtures/cluster/test-namespace.ts";
import { WORKER_JOINED } from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("every occurrence runs, though a worker is killed, and no more than allowed at a time", async ({
  namespace,
}) => {
  const runSchedule = (...args: string[]) => namespace.execute(["schedule", ...splitFirst(args)]);
  const journal = cluster.createPath("");
  const script = `echo "+$SIGNALBOX_SCHEDULED" >> ${journal}; sleep 0.05; echo "-$SIGNALBOX_SCHEDULED" >> ${journal}`;
  await runSchedule("add fill", "0 3 * * *", "--overlap", "allow", "--", "sh", "-c", script);
  const from = ["--from", "2026-01-01T03:00Z", "--to", "2026-01-30"];
  expect(await runSchedule("backfill fill", ...from, "--parallel", "3")).toExit(0, {
    stdout: "0 of 29 started, 0 not finished, next 2026-01-01 03:00:00 UTC",
  });
  expect(await runSchedule("backfill fill", ...from)).toExit(64, { stderr: /is under way: .*--cancel/ });
  const victim = namespace.start("worker", { env: SHORT_SESSIONS });
  await waitUntil("some runs", () => readFileSync(journal, "utf8").split("\n").length > 12);
  victim.kill("SIGKILL");
  const worker = namespace.start("worker", { env: SHORT_SESSIONS });
  await worker.waitForOutput(WORKER_JOINED);
  const watched = await runSchedule("backfill fill --watch");
  expect(watched).toExit(0, { stdout: /under way\n$/ });
  const lines = readFileSync(journal, "utf8").trim().split("\n");
  const ended = new Set(lines.filter((line) => line.startsWith("-")));
  const expected = Array.from(
    { length: 29 },
    (_, n) => `-2026-01-${String(n + 1).padStart(2, "0")}T03:00:00.000Z`,
  );
  expect([...ended].sort()).toEqual(expected);
});

test("it can be canceled, and mistakes are refused", async ({ namespace }) => {
  const runSchedule = (...args: string[]) => namespace.execute(["schedule", ...splitFirst(args)]);
  await runSchedule("add a", "0 3 * * *", "--", "true");
  await runSchedule("add b @manual -- true");
  const from = ["--from", "2026-01-01"];
  const cases: [string[], number, RegExp][] = [
    [["backfill", "a", ...from, "--parallel", "2"], 64, /--parallel must be 1; got 2.*--overlap allow/],
    [["backfill", "a", "--from", "2026-02-01", "--to", "2026-01-01"], 64, /--from must not be after --to/],
    [["backfill", "a", ...from, "--to", "+1h"], 64, /nor --to after now/],
    [["backfill", "a", "--from", "1970-01-01"], 64, /at most 10000 occurrences/],
    [["backfill", "a", "--parallel", "1"], 64, /need --from/],
    [["backfill", "a", ...from, "--cancel"], 64, /exclude each other/],
    [["backfill", "b", ...from], 64, /has no occurrence in this time/],
    [["backfill", "z", ...from], 1, /no schedule "z"/],
    [["backfill", "a", "--cancel"], 0, /no backfill of schedule a is under way/],
  ];
  for (const [args, code, why] of cases) {
    const { code: exit, stdout, stderr } = await runSchedule(...args);
    expect([args, exit, stdout + stderr]).toEqual([args, code, expect.stringMatching(why)]);
  }
  expect(await runSchedule("backfill a", ...from)).toExit(0);
  const { stdout } = await runSchedule("backfill a --json");
  expect(JSON.parse(stdout)).toMatchObject({ id: "a", backfill: { started: 0 }, open: [] });
  expect(await runSchedule("backfill a --cancel")).toExit(0);
  expect(await runSchedule("backfill a")).toMatchObject({
    stdout: "no backfill of schedule a is under way\n",
  });
});
