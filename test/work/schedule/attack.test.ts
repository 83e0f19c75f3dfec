// Covers src/work/worker/tasks/retry-until-done.ts
/** What must hold a schedule up for no longer than it lasts: refusals, odd values, edits under what runs, listeners that throw. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Store, StoreError } from "../../../src/etcd/store.ts";
import type { Txn } from "../../../src/protocol/txn.ts";
import { formatDefinition, parseDefinition } from "../../../src/schedule/definition.ts";
import { parseDue } from "../../../src/schedule/state/due.ts";
import { buildDefinitionChange } from "../../../src/work/schedules/definition-change.ts";
import type { WorkerEvent } from "../../../src/work/worker/events.ts";
import type { ScheduledTask, TaskResult } from "../../../src/work/worker/handler.ts";
import { Poller } from "../../../src/work/worker/polling/poller.ts";
import { Bed, diverted, type Hand, MINUTE, ok, Site, START } from "./site.ts";

/** How long is waited for what comes by a watch, ms. */
const PATIENCE = 30_000;

const bed = new Bed();
let site: Site;
beforeEach(() => {
  site = new Site(bed.store);
});
afterEach(() => site.close());

/** A store whose transactions a test looks at before they are sent; what it throws is the answer. */
function watched(look: (txn: Txn) => Promise<void> | void): Store {
  const txn: Store["commitTxn"] = async (one, signal) => {
    await look(one);
    return await bed.store.commitTxn(one, signal);
  };
  return diverted(bed.store, { commitTxn: txn });
}

const deletes = ({ success }: Txn, key: string) => success.some((op) => op.op === "delete" && op.key === key);
const started = (worker: Hand, count = 1) =>
  worker.saw((events) => events.filter(({ kind }) => kind === "started").length >= count);

/** Handlers that wait for a word, the first `count` of them; the others are done at once. */
function gated(count = 1) {
  const gate = Promise.withResolvers<TaskResult>();
  let calls = 0;
  const run = (_: ScheduledTask): Promise<TaskResult> => {
    calls += 1;
    return calls > count ? ok() : gate.promise;
  };
  return { run, open: (verdict: TaskResult = { result: "ok" }) => gate.resolve(verdict) };
}

describe("a running key never outlives its task", () => {
  test("though the state was made unreadable meanwhile", async () => {
    await site.add("job");
    const { run, open } = gated();
    const worker = site.worker(run);
    await started(worker);
    await site.put(site.keys.due("job"), "?");
    open();
    await worker.hasEnded(1);
    expect(await site.running()).toEqual([]);
    await site.put(site.keys.due("job"), JSON.stringify({ next: START, runAt: START }));
    await worker.hasEnded(2);
  });

  test("though it was deleted, and added again in the very moment", async () => {
    await site.add("job");
    const { run, open } = gated();
    let isFirst = true;
    const again = watched(async (txn) => {
      const drops = deletes(txn, site.keys.running("job")) && txn.success.length === 1;
      if (drops && isFirst) {
        isFirst = false;
        await site.add("job");
      }
    });
    const worker = new Site(again, site.clock, site.keys).worker(run);
    await started(worker);
    await site.delete(site.keys.schedule("job"), site.keys.due("job"));
    open();
    await worker.hasEnded(2);
    expect(await site.due("job")).toMatchObject({ next: START + MINUTE, open: [] });
    await worker.stop();
  });
});

test("forbid made allow while one runs: the next waits for its end, and asks nothing of etcd until then", async () => {
  const definition = await site.add("job");
  let claims = 0;
  const counting = watched(({ success }) => {
    if (success.some((op) => op.op === "put" && op.key === site.keys.due("job"))) claims += 1;
  });
  const { run, open } = gated();
  const worker = new Site(counting, site.clock, site.keys).worker(run);
  await started(worker);
  await site.put(site.keys.schedule("job"), formatDefinition({ ...definition, overlap: "allow" }));
  await site.add("mark");
  await started(worker, 2); // by then the worker knows the new definition
  const before = claims;
  site.clock.advance(MINUTE);
  await worker.saw(
    (events) => events.filter((event) => event.kind === "ended" && event.id === "mark").length >= 2,
  );
  site.clock.advance(MINUTE);
  await worker.saw(
    (events) => events.filter((event) => event.kind === "ended" && event.id === "mark").length >= 3,
  );
  expect(claims - before).toBe(0);
  open();
  await worker.saw(
    (events) => events.filter((event) => event.kind === "ended" && event.id === "job").length >= 3,
  );
  await worker.stop();
});

test("told to stop, a worker leaves though etcd refuses the end of a task; another takes it again", async () => {
  await site.add("job", { end: START });
  const refusing = watched((txn) => {
    if (deletes(txn, site.keys.running("job"))) throw new StoreError("permission", "refused by the test");
  });
  const worker = new Site(refusing, site.clock, site.keys).worker(ok);
  await started(worker);
  await worker.stop();
  expect(await site.running()).toEqual([]);
  const other = site.worker(ok);
  expect(await other.hasEnded(1)).toMatchObject([{ scheduled: START, result: "ok", attempt: 2 }]);
});

test("joining anew, it survives that its new session is gone before it was used", async () => {
  let joins = 0;
  const unlucky = watched(({ success: [first] }) => {
    if (first?.op !== "put" || site.keys.parse(first.key).kind !== "worker" || first.session === undefined)
      return;
    joins += 1;
    if (joins === 2) throw new StoreError("noSession", "requested lease not found");
  });
  const worker = new Site(unlucky, site.clock, site.keys).worker(ok, { ttl: 5 });
  await worker.joined();
  const [record] = (await bed.store.readRange(site.keys.workers())).kvs;
  await bed.store.revoke(record?.session ?? 0n);
  await worker.joined(2);
  await worker.stop();
});

test("a listener that throws at every word harms nobody", async () => {
  await site.add("job", { catchup: "latest" });
  site.clock.advance(5 * MINUTE);
  const told: WorkerEvent["kind"][] = [];
  const ended = Promise.withResolvers<void>();
  const worker = site.worker(ok, {
    listener: ({ kind }) => {
      told.push(kind);
      if (kind === "ended") ended.resolve();
      throw new Error("from the test");
    },
  });
  await ended.promise;
  expect(told).toContain("skipped");
  expect(await site.running()).toEqual([]);
  await worker.stop();
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, -1e15, 1.5, 1e300])(
  "a handler that wants to wait %s ms leaves a state that can be read",
  async (wait) => {
    await site.add("job");
    const worker = site.worker(async () => ({ result: "retry", wait }));
    await worker.hasEnded(1);
    expect(
      parseDue((await bed.store.readRange({ key: site.keys.due("job") })).kvs[0]?.value ?? ""),
    ).toHaveProperty("value");
  },
);

test("a schedule that is moved to where nothing comes any more has ended", () => {
  const definition = { cron: "* * * * *", timezone: "UTC" };
  const before = {
    ...{ id: "job", definitionMod: 1n, definition, dueMod: 1n, outcomesMod: 0n },
    ...{ outcomes: { runs: [], dead: [] }, due: { next: START, runAt: START, open: [] } },
  };
  const after = { ...definition, end: START + 1 };
  const [change] = buildDefinitionChange(before, after, START, { start: START + MINUTE });
  expect(change?.due).toEqual({ runAt: 0, open: [] });
});

test.each([{ until: 1e300 }, { until: "soon" }, { by: {} }, { why: 5 }])(
  "a pause by hand that says %j cannot be read",
  (odd) => {
    const pause = { by: "me", at: START, ...odd };
    expect(parseDefinition(JSON.stringify({ cron: "* * * * *", timezone: "UTC", pause }))).toHaveProperty(
      "fault",
    );
  },
);

test("a poller goes on after a claim that etcd refused", async () => {
  await site.add("job");
  let isFull = true;
  const full = watched(({ success }) => {
    if (isFull && success.some((op) => op.op === "put" && op.key === site.keys.running("job")))
      throw new StoreError("noSpace", "from the test");
  });
  const options = { host: "h1.example.com", pid: 1, version: "0", ttl: 30 };
  const ports = new Site(full, site.clock, site.keys).ports();
  const poller = await Poller.open(ports, options, new AbortController().signal);
  await expect(poller.poll()).rejects.toMatchObject({ kind: "noSpace" });
  isFull = false;
  const task = await vi.waitFor(async () => {
    const one = await poller.poll();
    expect(one).toBeDefined();
    return one;
  }, PATIENCE);
  await task?.finish();
  await poller.close();
});

test("a clock that goes back an hour holds up nothing but what is not due by it", async () => {
  await site.add("job", { end: START });
  site.clock.set(START + 60 * MINUTE);
  let isFull = true;
  const refused = Promise.withResolvers<void>();
  const full = watched(({ success }) => {
    if (!isFull || !success.some((op) => op.op === "put" && op.key === site.keys.running("job"))) return;
    isFull = false;
    refused.resolve();
    throw new StoreError("noSpace", "from the test");
  });
  const worker = new Site(full, site.clock, site.keys).worker(ok);
  await refused.promise;
  await new Promise((resolve) => setImmediate(resolve));
  site.clock.set(START + 1_000);
  await worker.hasEnded(1);
  await worker.stop();
});

test("a poller that may not watch any more says so, and sees again when it may", async () => {
  let isAllowed = true;
  let stop = Promise.withResolvers<undefined>();
  const watch: Store["watch"] = async function* (request, signal) {
    if (!isAllowed) throw new StoreError("permission", "from the test");
    const real = bed.store.watch(request, signal)[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([real.next(), stop.promise]);
      if (!isAllowed || next === undefined) throw new StoreError("permission", "from the test");
      if (next.done) return next.value;
      yield next.value;
    }
  };
  const withdrawn = diverted(bed.store, { watch });
  const options = { host: "h1.example.com", pid: 1, version: "0", ttl: 30 };
  const ports = new Site(withdrawn, site.clock, site.keys).ports();
  const poller = await Poller.open(ports, options, new AbortController().signal);
  expect(await poller.poll()).toBeUndefined();
  isAllowed = false;
  stop.resolve(undefined);
  await vi.waitFor(() => expect(poller.poll()).rejects.toMatchObject({ kind: "permission" }), PATIENCE);
  isAllowed = true;
  stop = Promise.withResolvers();
  await site.add("job");
  const task = await vi.waitFor(async () => {
    const one = await poller.poll().catch(() => undefined);
    expect(one).toBeDefined();
    return one;
  }, PATIENCE);
  await task?.finish();
  await poller.close();
});

test("given back, an occurrence whose starts were counted anew by hand leaves a state that can be read", async () => {
  await site.add("job");
  const { run, open } = gated();
  const worker = site.worker(run);
  await started(worker);
  const { open: opened, ...rest } = await site.due("job");
  const anew = opened.map((one) => ({ ...one, attempt: 0 }));
  await site.put(site.keys.due("job"), JSON.stringify({ ...rest, open: anew }));
  open({ result: "released" });
  await worker.hasEnded(2);
});
