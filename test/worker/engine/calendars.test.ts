/** Workers on a real etcd, and the calendars of schedules. `START` is Monday, 2026-03-02, at 10:00. */

import { afterEach, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { isPutting, returnOk, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import type { Clock } from "../../../src/core/base/clock.ts";
import type { LogFields } from "../../../src/core/base/log.ts";
import { delegateStore, type Store } from "../../../src/core/etcd/store.ts";
import { formatCalendar } from "../../../src/schedule/calendar/calendar.ts";
import { type Definition, formatDefinition } from "../../../src/schedule/definition.ts";
import { type DueState, formatDue } from "../../../src/schedule/state/due.ts";
import { addTriggeredRun } from "../../../src/schedule/state/due-transitions.ts";
import type { SchedulePorts } from "../../../src/worker/worker-ports.ts";

const DAY = 86_400_000;
const daily: Definition = { cron: "0 10 * * *", timezone: "UTC", except: ["off"] };
const due: DueState = { next: START, runAt: START, open: [] };

/** A fixture whose workers keep what they warn of. */
class CalendarFixture extends WorkerFixture {
  readonly warnings: { message: string; fields: LogFields | undefined }[] = [];

  override createPorts(clock?: Clock): SchedulePorts {
    const ports = super.createPorts(clock);
    const warn = (message: string, fields?: LogFields) => void this.warnings.push({ message, fields });
    return { ...ports, log: { ...ports.log, warn } };
  }

  async putCalendar(...days: string[]) {
    await this.put(this.keys.calendar("off"), formatCalendar({ days }));
  }

  /** Puts a schedule that is due at `START`, without regard to calendars. */
  async putDaily(state: DueState = due, change: Partial<Definition> = {}) {
    const definition = formatDefinition({ ...daily, ...change });
    await this.put(this.keys.schedule("job"), definition, this.keys.due("job"), formatDue(state));
  }
}

const cluster = TestCluster.startForFile();
let fixture: CalendarFixture;
const setUp = (store: Store = cluster.store) => {
  fixture = new CalendarFixture(store);
};
afterEach(() => fixture.close());

const hasNext = (next: number) => async () => (await fixture.readDue("job")).next === next;

describe("a worker", () => {
  test("starts nothing while a calendar is missing or unreadable, says why, and starts it once it is there", async () => {
    setUp();
    await fixture.putDaily();
    const worker = fixture.startWorker(returnOk);
    await worker.waitUntilJoined();
    await waitUntil("it warns", () => fixture.warnings.length === 1);
    expect(fixture.warnings).toEqual([
      { message: "a schedule does not fire", fields: { schedule: "job", why: 'there is no calendar "off"' } },
    ]);
    await fixture.put(fixture.keys.calendar("off"), "{}");
    await waitUntil("it warns", () => fixture.warnings.length === 2);
    expect(fixture.warnings[1]?.fields?.why).toMatch('calendar "off" cannot be read: it is not');
    const triggered = addTriggeredRun(due, START + 5_000);
    await fixture.put(fixture.keys.due("job"), formatDue(triggered ?? due));
    fixture.clock.set(START + 6_000);
    expect(await worker.waitForOutcomes(1)).toMatchObject([{ scheduled: START + 5_000 }]);
    await fixture.putCalendar("2026-03-03");
    expect((await worker.waitForOutcomes(2))[1]).toMatchObject({ scheduled: START });
    await waitUntil("the next occurrence moves", hasNext(START + 2 * DAY));
  });

  test("does not start an occurrence whose day is excluded between its decision and its transaction", async () => {
    let refused = 0;
    const store = delegateStore(cluster.store, {
      commitTxn: async (txn, signal) => {
        if (isPutting(txn, "/running/")) {
          await fixture.putCalendar("2026-03-02");
          refused += 1;
        }
        return await cluster.store.commitTxn(txn, signal);
      },
    });
    setUp(store);
    await fixture.putCalendar("2026-03-01");
    await fixture.putDaily();
    const worker = fixture.startWorker(returnOk);
    await worker.waitUntilJoined();
    await waitUntil("the next occurrence moves", hasNext(START + DAY));
    expect(refused).toBe(1);
    expect(await fixture.listRunning()).toEqual([]);
    expect(worker.list("started")).toEqual([]);
  });

  test("writes the first state of a schedule without one as its calendars say", async () => {
    setUp();
    await fixture.putCalendar("mon", "2026-03-03");
    await fixture.put(fixture.keys.schedule("job"), formatDefinition(daily));
    await fixture.startWorker(returnOk).waitUntilJoined();
    fixture.clock.set(START + 5_000);
    await waitUntil(
      "there is a state",
      async () => (await fixture.store.readRange({ key: fixture.keys.due("job") })).count > 0n,
    );
    expect(await fixture.readDue("job")).toMatchObject({ next: START + 2 * DAY });
  });

  test("does not end a run for a next occurrence that must not start", async () => {
    setUp();
    await fixture.putCalendar("2026-03-01");
    await fixture.putDaily(due, { overlap: "replace" });
    const gate = Promise.withResolvers<void>();
    const worker = fixture.startWorker(() => gate.promise.then(returnOk));
    await worker.waitFor("started");
    await fixture.delete(fixture.keys.calendar("off"));
    await waitUntil("it warns", () => fixture.warnings.length === 1);
    fixture.clock.set(START + DAY + 1_000);
    await fixture.add("other", { cron: "0 10 3 3 *" });
    await worker.waitFor("started", 1, ({ id }) => id === "other");
    gate.resolve();
    expect(await worker.waitForOutcomes(2)).toMatchObject([{ result: "ok" }, { result: "ok" }]);
  });
});
