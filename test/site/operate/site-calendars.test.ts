/** Changes of calendars and of schedules that use them, while others write: on a real etcd. */
import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { delegateStore } from "../../../src/core/etcd/store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import type { Definition } from "../../../src/schedule/definition.ts";
import { parseDue } from "../../../src/schedule/state/due.ts";
import type { OperatorPorts } from "../../../src/site/operate/operator-action.ts";
import { applyMutation } from "../../../src/site/operate/schedule-mutation.ts";
import { buildAddMutation } from "../../../src/site/operate/schedule-mutations.ts";
import { applySite, planSite, type SitePlan } from "../../../src/site/operate/site.ts";
import { readAllStoredSchedules } from "../../../src/site/operate/stored-schedules.ts";

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

/** Plans new days of a calendar; undefined deletes it. */
async function plan(days: readonly string[] | undefined, name = "off") {
  const stored = { ...(await readAllStoredSchedules(ports)), groups: new Map(), resources: new Map() };
  const document = { calendars: new Map([[name, days && { days }]]) };
  return planSite(stored, document, { prunes: false, isSingle: true }, Date.now());
}

/** Changes a calendar as it was shown. */
const apply = async (
  operator: OperatorPorts,
  days: readonly string[] | undefined,
  { name = "off", shown }: { name?: string; shown?: SitePlan } = {},
) =>
  await applySite(operator, {
    action: "calendar",
    target: `calendar ${name}`,
    reason: undefined,
    shown: shown ?? (await plan(days, name)),
    replan: () => plan(days, name),
    formatOutcome: () => "changed",
  });
const add = (id: string) => applyMutation(ports, buildAddMutation(id, christmas));

async function readNextDate(id: string) {
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
  return { seen, ports: { ...ports, store: delegateStore(store, { commitTxn }) } };
}

test("a schedule that is added meanwhile moves too", async () => {
  await apply(ports, ["12-25"]);
  const { seen, ports: diverted } = interrupt(ports.keys.calendar("off"), () => add("job"));
  expect((await apply(diverted, ["12-25", "12-26"])).kind).toBe("done");
  expect(seen.tries).toBe(2);
  expect(await readNextDate("job")).toBe("12-27");
});

test("a schedule is added with the calendar as it is in the end", async () => {
  await apply(ports, ["12-25"]);
  const change = () => apply(ports, ["12-25", "12-26"]);
  const { seen, ports: diverted } = interrupt(ports.keys.schedule("job"), change);
  await applyMutation(diverted, buildAddMutation("job", christmas));
  expect(seen.tries).toBe(2);
  expect(await readNextDate("job")).toBe("12-27");
});

test("a schedule is not added when its calendar is deleted meanwhile", async () => {
  await apply(ports, ["12-25"]);
  const { ports: diverted } = interrupt(ports.keys.schedule("job"), () => apply(ports, undefined));
  await expect(applyMutation(diverted, buildAddMutation("job", christmas))).rejects.toThrow(
    'there is no calendar "off"',
  );
  expect(await readNextDate("job")).toBeUndefined();
});

test("a calendar that was changed after the operator saw it stays", async () => {
  await apply(ports, ["12-25"]);
  const shown = await plan(["12-26"]);
  await apply(ports, ["12-24"]);
  expect(await apply(ports, ["12-26"], { shown })).toEqual({ kind: "changed" });
  expect((await plan(["12-24"])).calendars).toEqual([]);
});

test("schedules with more calendars than a transaction compares are added", async () => {
  const names = Array.from({ length: 130 }, (_, index) => `c${index}`);
  for (const name of names) await apply(ports, ["12-25"], { name });
  await applyMutation(ports, buildAddMutation("job", { ...christmas, except: names }));
  expect(await readNextDate("job")).toBe("12-26");
});

test("a calendar of 20 schedules on 200 hosts changes in parts, and only when all of them have moved", async () => {
  const { keys, store } = ports;
  await apply(ports, ["12-25"]);
  const daily: Definition = { cron: "0 3 * * *", timezone: "UTC", except: ["off"], on: "every-host" };
  const ids = Array.from({ length: 20 }, (_, index) => `job${index}`);
  for (const id of ids) {
    await applyMutation(ports, buildAddMutation(id, daily));
    const due = (await store.readRange({ key: keys.due(id) })).kvs[0]?.value ?? "";
    for (let first = 0; first < 200; first += 100) {
      const hosts = Array.from({ length: 100 }, (_, index) => `web${first + index}`);
      const success = hosts.map((host) => ({ op: "put", key: keys.due(id, host), value: due }) as const);
      await store.commitTxn({ compare: [], success, failure: [] });
    }
  }
  const before = await store.readRange(keys.dues());
  const days = [0, 1, 2].map((day) => new Date(Date.now() + day * 86_400_000).toISOString().slice(5, 10));
  expect(await apply(ports, days)).toMatchObject({ kind: "done" });
  const after = await store.readRange(keys.dues());
  expect(after.kvs).toHaveLength(before.kvs.length);
  const [calendar] = (await store.readRange({ key: keys.calendar("off") })).kvs;
  for (const { value, modRevision } of after.kvs) {
    const parsed = parseDue(value);
    const next = "value" in parsed ? parsed.value.next : undefined;
    expect(days).not.toContain(new Date(next ?? 0).toISOString().slice(5, 10));
    expect(modRevision).toBeLessThanOrEqual(calendar?.modRevision ?? 0n);
  }
});

test("a calendar that schedules use is not deleted", async () => {
  await apply(ports, ["12-25"]);
  await add("job");
  await expect(plan(undefined)).rejects.toThrow('calendar "off" cannot be deleted: schedule job uses it');
});
