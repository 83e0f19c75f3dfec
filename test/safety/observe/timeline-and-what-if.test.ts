/** What operators ask about the past and the future: `schedule lint --collisions`, `timeline` and `why --at`. */
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { putDueSchedule, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";

const { test } = TestCluster.startForFile();

test("collisions are listed, and the printed command ends them", async ({ namespace }) => {
  expect((await namespace.execute("schedule lint --collisions")).stdout).toBe(
    "no schedules compete within 1d\n",
  );
  for (const id of ["a", "b"])
    await namespace.execute(["schedule", "add", id, "0 3 * * *", "--lease", "db=2", "--", "true"]);
  await namespace.execute("resource set db 3 --yes");
  const report = JSON.parse((await namespace.execute("schedule lint --collisions --json")).stdout);
  expect(report).toMatchObject({
    version: 1,
    schedules: 2,
    starts: [{ ids: ["a", "b"], minutes: 1 }],
    leases: [{ resource: "db", total: 3, peak: 4, ids: ["a", "b"] }],
    suggestions: [{ id: "b", flag: "delay", value: 60_000, command: "signalbox schedule edit b --delay 1m" }],
  });
  const { stdout } = await namespace.execute("schedule lint --collisions --within 24h");
  expect(stdout).toMatch(/^same minute\nMINUTES +FIRST +SCHEDULES\n1 .*a, b\n\nmore units than the total\n/);
  expect(stdout).toContain("  signalbox schedule edit b --delay 1m\n");
  await namespace.execute("schedule add late '0 5 * * *' -- true");
  expect((await namespace.execute("schedule lint --collisions late")).stdout).toBe(
    "no schedules compete with late within 1d\n",
  );
  expect((await namespace.execute("schedule lint --collisions late a --json")).stdout).toContain('"peak":4');
  expect(await namespace.execute("schedule lint --collisions c")).toExit(1, {
    stderr: "there is no schedule",
  });
  const [, ...words] = report.suggestions[0].command.split(" ");
  expect(await namespace.execute([...words, "--yes"])).toExit(0);
  expect((await namespace.execute("schedule lint --collisions")).stdout).toBe(
    "no schedules compete within 1d\n",
  );
  expect(await namespace.execute("schedule lint --collisions --within 40d")).toExit(64, {
    stderr: "--within must be greater than 0 and at most 31d; got 40d",
  });
});

test("timeline: holds are drawn, in ASCII where the locale has no UTF-8", async ({ namespace }) => {
  expect((await namespace.execute("timeline")).stdout).toBe("nothing is recorded in this time\n");
  for (const lock of ["x", "y"]) await namespace.execute(["run", "--lock", lock, "--", "true"]);
  expect(JSON.parse((await namespace.execute("timeline --json x")).stdout)).toMatchObject({
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

test("timeline: what runs and tasks held of a resource is drawn, shown and listed after their end", async ({
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
  expect(tracks[0].intervals.filter(({ kind }: { kind: string }) => kind === "hold")).toMatchObject([
    { units: 2, result: "0" },
    { units: 3, result: "ok" },
  ]);
  const { rows } = await read("ls", "history", "x");
  expect(rows).toMatchObject([{ lock: "x", leases: { db: 2 } }]);
});

test("why --at: the plan, the holder and the actions of a past time are listed", async ({ namespace }) => {
  await namespace.execute("schedule add backup '0 3 * * *' -- true");
  const { stdout } = await namespace.execute("why backup --at 1s");
  expect(stdout).toMatch(
    /^schedule backup: its plan 0 3 \* \* \* has its last occurrence until then at .* 03:00:00Z\nno outcome/,
  );
  expect(stdout).toMatch(": schedule backup by ");
  await namespace.execute("run --lock x -- sleep 1");
  const { rows: runs } = JSON.parse((await namespace.execute("ls history x --json")).stdout);
  const report = JSON.parse(
    (await namespace.execute(["why", "x", "--at", String(runs[0].grantedAt), "--json"])).stdout,
  );
  expect(report).toMatchObject({ version: 1, at: runs[0].grantedAt, reasons: [{ kind: "run" }] });
  expect(report.reasons[0].text).toMatch(/held it from .* exit code 0/);
  expect(await namespace.execute("why nothing --at 1h")).toExit(1);
  expect(await namespace.execute("why x --at soon")).toExit(64);
});
