/** Changes of calendars and of schedules that use them, while others write: on a real etcd. */
import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { TestCluster } from "../../fixtures/cluster/test-cluster.ts";
import {
  applyCalendarMutation,
  type CalendarMutation,
  previewCalendarMutation,
} from "../../src/operate/calendar-mutation.ts";
import type { OperatorPorts } from "../../src/operate/ports.ts";
import { applyMutation } from "../../src/operate/schedule-mutation.ts";
import { buildAddMutation } from "../../src/operate/schedule-mutations.ts";
import { createRealClock } from "../../src/process/clock.ts";
import { realRandom } from "../../src/process/random.ts";
import { createKeys } from "../../src/protocol/keys.ts";
import type { Definition } from "../../src/schedule/definition.ts";
import { parseDue } from "../../src/schedule/state/due.ts";
import { divertCalls } from "../worker/worker-fixture.ts";

const cluster = TestCluster.startForFile();
const christmas: Definition = { cron: "0 3 25 12 *", timezone: "UTC", except: ["off"], ifExcluded: "next" };
let ports: OperatorPorts;

beforeEach(() => {
  ports = {
    store: cluster.store,
    keys: createKeys(`/${randomUUID()}/`),
    clock: createRealClock(),
    random: realRandom,
    operator: { user: "ann", host: "h" },
    settings: { connectTimeout: 5_000, readOnly: false },
  };
});

const setDays = (...days: string[]): CalendarMutation => ({ name: "off", decide: () => ({ days }) });
const add = (id: string) => applyMutation(ports, buildAddMutation(id, christmas));

async function readNextDate(id: string): Promise<string | undefined> {
  const { kvs } = await ports.store.readRange({ key: ports.keys.due(id) });
  const parsed = parseDue(kvs[0]?.value ?? "");
  return "value" in parsed && parsed.value.next !== undefined
    ? new Date(parsed.value.next).toISOString().slice(5, 10)
    : undefined;
}

/** Creates ports on which something happens right before the first transaction that writes a key. */
function interrupt(key: string, meanwhile: () => Promise<unknown>) {
  const { store } = ports;
  const seen = { tries: 0 };
  const commitTxn: typeof store.commitTxn = async (txn, signal) => {
    if (txn.success.some((op) => op.op === "put" && op.key === key)) {
      seen.tries += 1;
      if (seen.tries === 1) await meanwhile();
    }
    return await store.commitTxn(txn, signal);
  };
  return { seen, ports: { ...ports, store: divertCalls(store, { commitTxn }) } };
}

test("a schedule that is added meanwhile moves too", async () => {
  await applyCalendarMutation(ports, setDays("12-25"));
  const { seen, ports: diverted } = interrupt(ports.keys.calendar("off"), () => add("job"));
  const done = await applyCalendarMutation(diverted, setDays("12-25", "12-26"));
  expect(done).toMatchObject({ kind: "done", plan: { users: ["job"] } });
  expect(seen.tries).toBe(2);
  expect(await readNextDate("job")).toBe("12-27");
});

test("a schedule is added with the calendar as it is in the end", async () => {
  await applyCalendarMutation(ports, setDays("12-25"));
  const change = () => applyCalendarMutation(ports, setDays("12-25", "12-26"));
  const { seen, ports: diverted } = interrupt(ports.keys.schedule("job"), change);
  await applyMutation(diverted, buildAddMutation("job", christmas));
  expect(seen.tries).toBe(2);
  expect(await readNextDate("job")).toBe("12-27");
});

test("a schedule is not added when its calendar is deleted meanwhile", async () => {
  await applyCalendarMutation(ports, setDays("12-25"));
  const { ports: diverted } = interrupt(ports.keys.schedule("job"), () =>
    applyCalendarMutation(ports, { name: "off", decide: () => undefined }),
  );
  await expect(applyMutation(diverted, buildAddMutation("job", christmas))).rejects.toThrow(
    'there is no calendar "off"',
  );
  expect(await readNextDate("job")).toBeUndefined();
});

test("a calendar that was changed after the operator saw it stays", async () => {
  await applyCalendarMutation(ports, setDays("12-25"));
  const { revision } = await previewCalendarMutation(ports, setDays("12-26"));
  await applyCalendarMutation(ports, setDays("12-24"));
  expect(await applyCalendarMutation(ports, setDays("12-26"), { seen: revision })).toMatchObject({
    kind: "changed",
  });
  expect((await previewCalendarMutation(ports, setDays("12-24"))).isSame).toBe(true);
});

test("schedules with more calendars than a transaction compares are added", async () => {
  const names = Array.from({ length: 130 }, (_, index) => `c${index}`);
  for (const name of names) await applyCalendarMutation(ports, { name, decide: () => ({ days: ["12-25"] }) });
  await applyMutation(ports, buildAddMutation("job", { ...christmas, except: names }));
  expect(await readNextDate("job")).toBe("12-26");
});
