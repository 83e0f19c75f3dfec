/** A schedule in a blackout: a worker starts nothing of it by itself; an operator can. */
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { putDueSchedule, readOutcomes, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const HOUR = 3_600_000;

/** Times of the day around now, in UTC. */
function writeBlackout() {
  const write = (at: number) => new Date(at).toISOString().slice(11, 16);
  return `${write(Date.now() - 4 * HOUR)}-${write(Date.now() + 4 * HOUR)}`;
}

describe.concurrent("in a blackout", () => {
  test("what is late waits, other schedules run, and an operator can start it", async ({ namespace }) => {
    const except = [writeBlackout()];
    const due = Date.now() - 10 * HOUR; // before the blackout
    await putDueSchedule(namespace, "held", { command: ["true"], except });
    await namespace.put(namespace.keys.due("held"), JSON.stringify({ v: 1, next: due, runAt: due }));
    await putDueSchedule(namespace, "other", { command: ["true"] });
    const worker = namespace.start("worker");
    await waitForOutcomes(namespace, "other"); // it was due later
    expect(await readOutcomes(namespace, "held")).toEqual([]);
    expect(await namespace.execute("schedule trigger held")).toFail(
      64,
      `does not run now (${except[0]}); to run it all the same, add --ignore-calendar`,
    );
    expect(await namespace.execute("schedule trigger held --ignore-calendar")).toExit(0, {
      stdout: "triggered",
    });
    expect(await waitForOutcomes(namespace, "held")).toMatchObject([{ result: "ok" }]);
    await worker.end();
  });

  test("add says when it is due, how often it is left out, and what happens after an outage", async ({
    namespace,
  }) => {
    const add = (options: string) =>
      namespace.execute(`schedule add sync "*/30 * * * *" --except ${options} -- true`);
    expect(await add("22:00-06:00")).toExit(0, {
      stdout: /next: .*\n(?:.*\n)*after an outage: of missed occurrences, only the latest is run/,
    });
    expect((await namespace.execute("show schedule sync")).stdout).toMatch(/except +22:00-06:00/);
    expect((await namespace.execute("schedule next sync --count 48")).stdout).toContain(
      "blackout: skipped 16 times (22:00-06:00)",
    );
    expect((await namespace.execute("export")).stdout).toContain("22:00-06:00");
    expect(await add("25:00-06:00")).toFail(64, "does not name times of the day");
    const never = await namespace.execute('schedule add n "0 2 * * *" --except 22:00-06:00 -- true');
    expect(never).toFail(64, "would never fire: its blackouts leave no time: 22:00-06:00");
  });
});
