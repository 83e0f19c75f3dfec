/** The command `timeline`, after runs. */
import { expect } from "vitest";
import { TestCluster } from "../../../../fixtures/cluster/test-cluster.ts";
import { putDueSchedule, waitForOutcomes } from "../../support/due-schedules.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("holds are drawn, in ASCII where the locale has no UTF-8", async ({ namespace }) => {
  expect((await namespace.execute("timeline")).stdout).toBe("nothing is recorded in this time\n");
  for (const lock of ["x", "y"]) await namespace.execute(["run", "--lock", lock, "--", "true"]);
  const report = JSON.parse((await namespace.execute("timeline --json x")).stdout);
  expect(report).toMatchObject({
    version: 1,
    tracks: [
      {
        subject: "lock x",
        intervals: expect.arrayContaining([expect.objectContaining({ kind: "hold", result: "0" })]),
      },
    ],
  });
  const { stdout } = await namespace.execute("timeline --since 1d --width 40");
  expect(stdout).toMatch(/^ +\S+ \S+Z +\S+ \S+Z\nlock x +[·.]{39}[█#]\nlock y +[·.]{39}[█#]\n.* held /);
  expect((await namespace.execute("timeline z")).stdout).toBe('nothing is recorded of "z" in this time\n');
  expect(await namespace.execute("timeline --since +1h")).toExit(64);
});

test("what runs and tasks held of a resource is drawn, shown and listed after their end", async ({
  namespace,
}) => {
  const read = async (...args: string[]) => await namespace.executeJson(args);
  const run = ["run", "--lock", "x", "--lock", "y", "--lease", "db=2:10", "--", "sleep", "0.3"];
  await namespace.expectDone(...run);
  namespace.start("worker");
  await putDueSchedule(namespace, "job", { command: ["sleep", "0.3"], leases: ["db=3:10"] });
  const [outcome] = await waitForOutcomes(namespace, "job");
  expect(outcome).toMatchObject({ result: "ok", leases: { db: 3 }, waited: expect.any(Number) });
  const { history, use } = await read("show", "resource", "db");
  expect(history).toMatchObject([
    { subject: "schedule job", units: 3, result: "ok", run: outcome?.run },
    { subject: expect.stringMatching(/^lock [xy]$/), units: 2, result: "0", command: "sleep" },
  ]);
  expect(use).toMatchObject({ from: history[1].enqueuedAt, peak: 3 });
  expect([use.held.length, Math.max(...use.held)]).toEqual([24, 3]);
  expect(use.average).toBeGreaterThan(0);
  const shown = (await namespace.execute("show resource db")).stdout;
  expect(shown).toMatch(/units held +\S+ at most 3, \d\.\d on average in the last /);
  expect(shown).toMatch(/history\n.*UNITS.*\n.* 3 +schedule job .*\n.* 2 +lock [xy] /);
  const { tracks } = await read("timeline", "db");
  expect(tracks).toMatchObject([{ subject: "resource db" }]);
  const holds = tracks[0].intervals.filter(({ kind }: { kind: string }) => kind === "hold");
  expect(holds).toMatchObject([
    { units: 2, result: "0" },
    { units: 3, result: "ok" },
  ]);
  const { rows } = await read("ls", "history", "x");
  expect(rows).toMatchObject([{ lock: "x", leases: { db: 2 } }]);
});
