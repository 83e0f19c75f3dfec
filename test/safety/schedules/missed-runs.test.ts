/** Schedules whose occurrences are all skipped, or cannot begin: listings, problems and checks count what was due. */
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { putDueSchedule } from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import type { Definition } from "../../../src/schedule/definition.ts";
import { parseDue } from "../../../src/schedule/state/due.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const HOUR = 3_600_000;

/** Puts a schedule of each minute that nobody has run for an hour. */
async function putOverdue(namespace: TestNamespace, id: string, more: Partial<Definition>, host?: string) {
  const due = Math.floor((Date.now() - HOUR) / 60_000) * 60_000;
  await putDueSchedule(namespace, id, { cron: "* * * * *", command: ["true"], ...more });
  for (const one of host === undefined ? [undefined] : [undefined, host])
    await namespace.put(namespace.keys.due(id, one), JSON.stringify({ v: 1, next: due, runAt: due }));
}

const readState = async (namespace: TestNamespace, id: string, host?: string) => {
  const parsed = parseDue((await namespace.readValue(namespace.keys.due(id, host))) ?? "");
  return "value" in parsed ? parsed.value : undefined;
};
const waitForSkip = (namespace: TestNamespace, id: string, host?: string) =>
  waitUntil(`${id} has skipped`, async () => (await readState(namespace, id, host))?.skipped !== undefined);

describe.concurrent("a schedule of which nothing runs", () => {
  test.each<[string, Partial<Definition>, string]>([
    ["conditions", { if: ["load < 0"], deadline: 20_000 }, "load"],
    ["a deadline", { deadline: 1 }, "too late"],
    ["its catch-up rule", { catchup: "none", if: ["load < 0"] }, "load"],
  ])("because of %s is not healthy", async (_, more, why) => {
    const namespace = cluster.createNamespace();
    await putOverdue(namespace, "s", more);
    const worker = namespace.start("worker");
    await waitForSkip(namespace, "s");
    const { rows } = await namespace.executeJson("ls schedules state:missed");
    expect(rows).toMatchObject([{ schedule: "s", skipped: { count: expect.any(Number) } }]);
    expect(rows[0].skipped.count).toBeGreaterThan(50);
    expect((await namespace.executeJson("ls problems")).rows).toMatchObject([
      { kind: "missed", level: "warning", subject: "schedule s", detail: expect.stringContaining(why) },
    ]);
    const check = await namespace.execute("check schedule s");
    expect(check).toExit(2, { stdout: /nothing has run since .*: \d+ occurrences were skipped/ });
    expect(check.stdout).not.toContain("no run is recorded");
    expect((await namespace.execute("show schedule s")).stdout).toMatch(
      /missed +\d+ occurrences were skipped: /,
    );
    await worker.end();
    await namespace.close();
  });

  test("on one of its hosts is not healthy there", async ({ namespace }) => {
    await putOverdue(namespace, "s", { on: "every-host", if: ["load < 0"], deadline: 20_000 }, "h1");
    const worker = namespace.start("worker", { env: { SIGNALBOX_HOST: "h1" } });
    await waitForSkip(namespace, "s", "h1");
    const { rows } = await namespace.executeJson("ls problems");
    expect(rows).toMatchObject([
      { kind: "missed", host: "h1", detail: expect.stringContaining("occurrences on h1 were skipped") },
    ]);
    expect(await namespace.execute("check schedule s")).toExit(2, { stdout: "schedule s on h1" });
    await worker.end();
  });

  test("is healthy again when it has started, and was never ill if a pause or a calendar was the reason", async ({
    namespace,
  }) => {
    await putOverdue(namespace, "s", { catchup: "latest" });
    const pause = { by: "ann", at: Date.now() - 2 * HOUR, until: Date.now() - 1_000 };
    await putOverdue(namespace, "paused", { pause, if: ["load < 0"], deadline: 20_000 });
    const days = { days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] };
    await namespace.put(namespace.keys.calendar("always"), JSON.stringify({ v: 1, ...days }));
    await putOverdue(namespace, "excluded", { except: ["always"] });
    await namespace.put(
      namespace.keys.due("s"),
      JSON.stringify({
        v: 1,
        next: Date.now() - HOUR,
        runAt: Date.now() - HOUR,
        skipped: { since: 1, count: 9 },
      }),
    );
    expect((await namespace.executeJson("ls schedules state:missed")).rows).toMatchObject([
      { schedule: "s" },
    ]);
    const worker = namespace.start("worker");
    await waitUntil("it has run", async () => (await readState(namespace, "s"))?.last?.result === "ok");
    await waitUntil("the others have moved", async () => {
      const paused = await readState(namespace, "paused");
      return (
        (paused?.next ?? 0) > pause.until && (await readState(namespace, "excluded"))?.next === undefined
      );
    });
    expect((await namespace.executeJson("ls schedules state:missed")).rows).toEqual([]);
    expect((await namespace.executeJson("ls problems state:missed")).rows).toEqual([]);
    await worker.end();
  });

  test("is a job whose deadline has passed", async ({ namespace }) => {
    const { jobs } = await connectLibrary(namespace);
    const { id } = await jobs.add("bill", undefined, { key: "1", at: Date.now() - HOUR, deadline: "1m" });
    await jobs.add("bill", undefined, { key: "2", at: Date.now() - HOUR });
    const worker = namespace.start("worker");
    const program = await connectLibrary(namespace);
    const task = await program.schedules.poll({ wait: true });
    expect(task?.id).toBe("bill.2");
    await task?.finish();
    await waitForSkip(namespace, id);
    const { rows } = await namespace.executeJson("ls schedules state:missed");
    expect(rows).toMatchObject([{ schedule: id, states: expect.arrayContaining(["missed", "ended"]) }]);
    expect(await jobs.count()).toMatchObject({ dead: 1 });
    await worker.end();
  });
});
