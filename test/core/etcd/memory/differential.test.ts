/** The etcd in memory answers random operations as a real etcd does. */

import { inspect, isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { startEtcd } from "../../../../fixtures/etcd/index.ts";
import { open } from "../../../../fixtures/etcd/served-subject.ts";
import { getRevision } from "../../../../fixtures/etcd/store-calls.ts";
import { pickCount } from "../../../../fixtures/test-effort.ts";
import { createTestRandom } from "../../../../fixtures/test-seed.ts";
import { toMonotonicTime } from "../../../../src/core/base/clock.ts";
import { type MemoryEtcd, MemoryStore } from "../../../../src/core/etcd/memory/memory-store.ts";
import { type Store, StoreError } from "../../../../src/core/etcd/store.ts";
import type {
  Op,
  OpResult,
  RangeOp,
  RangeResult,
  ResponseHeader,
  Txn,
  TxnResult,
  WatchBatch,
  WatchRequest,
} from "../../../../src/core/protocol/txn.ts";
import { FollowedWatch } from "./followed-watch.ts";
import { RandomSteps, type Step } from "./random-steps.ts";

const STEPS = pickCount(2_000, 100_000);
/** How many watches are open at a time. */
const MOST_WATCHES = 4;

/** An etcd under comparison. */
interface Compared {
  store: Store;
  compact(revision: bigint): Promise<void>;
}

test(`${STEPS} random operations have the same results in memory as on a real etcd`, async () => {
  const etcd = await startEtcd();
  // Nothing is asked twice: what is asked twice is written twice.
  const timeouts = { attempt: 60_000, hedge: 60_000, total: 60_000, probe: 60_000 };
  const store = await open({ endpoints: etcd.endpoints, transport: "http", timeouts });
  try {
    await compareAll({ store, compact: (revision) => compactByGateway(etcd.clientUrl, revision) });
  } finally {
    store.close();
    await etcd.stop();
  }
}, 3_600_000);

async function compareAll(real: Compared) {
  const { revision, raftTerm } = await real.store.readRange({ key: "\0", rangeEnd: "\0" });
  const store = MemoryStore.create({ now: () => toMonotonicTime(0) }, { minTtl: 1, expiry: "manual" });
  const { etcd } = store;
  Object.assign(etcd, { revision, raftTerm });
  const both = new Comparison(real, { store, etcd, compact: async (at) => etcd.compact(at) });
  const steps = new RandomSteps(createTestRandom("differential"), etcd);
  for (let at = 1; at <= STEPS; at += 1) await both.take(steps.drawStep(), at);
  await both.end();
  console.log(`results: ${[...both.counts].map(([name, count]) => `${name} ${count}`).join(", ")}`);
  if (STEPS >= FEW_OF_EACH)
    for (const kind of KINDS)
      expect(both.counts.get(kind), `operations of the kind ${kind}`).toBeGreaterThan(0);
}

/** Steps in which each of the kinds comes about dozens of times. */
const FEW_OF_EACH = 20_000;

/** What must come about in a long run, if it is to say anything. */
const KINDS = [
  "txn",
  "range",
  "grant",
  "renew",
  "revoke",
  "time",
  "keys",
  "sessions",
  "compact",
  "watch",
  "txn invalid",
  "txn noSession",
  "range compacted",
  "range invalid",
  "grant exists",
  "watch compacted",
];

class Comparison {
  /** Steps by kind, and by the error of the real etcd, if any. */
  readonly counts = new Map<string, number>();
  readonly #real: Compared;
  readonly #memory: Compared & { etcd: MemoryEtcd };
  #watches: OpenWatch[] = [];

  constructor(real: Compared, memory: Compared & { etcd: MemoryEtcd }) {
    this.#real = real;
    this.#memory = memory;
  }

  async take(step: Step, at: number) {
    const name = `step ${at}: ${inspect(step, { depth: 12, breakLength: 160, maxStringLength: 20 })}`;
    if (step.kind === "watch") {
      const watch = this.#open(step.request, name);
      if (step.isLive) this.#watches.push(watch);
      else await this.#close(watch);
      if (this.#watches.length > MOST_WATCHES) await this.#closeFirst();
      return;
    }
    if (step.kind === "compact") await this.end(); // a watch that has not caught up would be refused
    await this.#perform(step, name);
  }

  /** Ends all watches. */
  async end() {
    while (this.#watches.length > 0) await this.#closeFirst();
  }

  async #perform(step: Exclude<Step, { kind: "watch" }>, name: string) {
    const expected = await perform(this.#real, step).catch((cause) => {
      throw new Error(`the real etcd does not answer ${name}`, { cause });
    });
    const actual = await perform(this.#memory, step);
    this.#compare(actual, expected, name);
    this.#count(step.kind, expected);
    return expected;
  }

  #open(request: WatchRequest, name: string) {
    const [real, memory] = [this.#real, this.#memory].map(({ store }) => new FollowedWatch(store, request));
    return { name, request, real, memory } as OpenWatch;
  }

  async #closeFirst() {
    const [first, ...others] = this.#watches;
    this.#watches = others;
    if (first !== undefined) await this.#close(first);
  }

  /** Writes what ends a watch, and compares what it has delivered. */
  async #close({ name, request, real, memory }: OpenWatch) {
    const [range] = request.ranges;
    const key = range?.key ?? "";
    const write = (op: Op) =>
      this.#perform({ kind: "txn", txn: { compare: [], success: [op], failure: [] } }, `the end of ${name}`);
    const put = await write({ op: "put", key, value: "the end" });
    const deleted = await write({ op: "delete", key });
    const { revision } = (range?.only === "puts" ? put : deleted) as ResponseHeader;
    const [expected, actual] = await Promise.all([real.endWith(revision), memory.endWith(revision)]);
    const without = request.from === this.#memory.etcd.compacted ? request.from : undefined;
    this.#compare(toEvents(actual, without), toEvents(expected, without), name);
    this.#count("watch", expected);
  }

  #compare(actual: Result, expected: Result, name: string) {
    if (!isDeepStrictEqual(actual, expected)) expect(actual, name).toEqual(expected);
  }

  #count(kind: string, result: Result) {
    const name = isRefusal(result) ? `${kind} ${result.error}` : kind;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}

interface OpenWatch {
  name: string;
  request: WatchRequest;
  real: FollowedWatch;
  memory: FollowedWatch;
}

/** The answer, or `{ error }` with the kind of the error. */
type Result = unknown;

function isRefusal(result: Result): result is { error: string } {
  return typeof result === "object" && result !== null && "error" in result;
}

async function toResult(call: Promise<unknown>) {
  return await call.catch((error: unknown) => {
    if (error instanceof StoreError && error.kind !== "unavailable") return { error: error.kind };
    throw error;
  });
}

function perform(compared: Compared, step: Exclude<Step, { kind: "watch" }>) {
  return toResult(execute(compared, step));
}

async function execute(
  { store, compact }: Compared,
  step: Exclude<Step, { kind: "watch" }>,
): Promise<unknown> {
  switch (step.kind) {
    case "txn": {
      const answer = await store.commitTxn(step.txn);
      return { ...answer, ...normalizeTxn(step.txn, answer) };
    }
    case "range": {
      const answer = await store.readRange(step.range);
      return { ...answer, ...normalizeRange(step.range, answer) };
    }
    case "grant":
      return await store.grant(step.id, step.ttl);
    case "renew":
      return await store.renew(step.id);
    case "revoke":
      return await store.revoke(step.id);
    case "time":
      return { ttl: (await store.readTimeToLive(step.id))?.ttl };
    case "keys":
      return (await store.listSessionKeys(step.id)).sort(); // in no defined order
    case "sessions":
      return (await store.listSessions()).sort(); // in no defined order
    case "compact":
      return await compact(step.revision);
  }
}

function normalizeTxn({ success, failure }: Txn, { succeeded, results }: TxnResult): TxnResult {
  const branch = succeeded ? success : failure;
  const normalize = (result: OpResult, op: Op | undefined): OpResult => {
    if (op?.op === "range" && result.op === "range") return { ...result, ...normalizeRange(op, result) };
    if (op?.op === "txn" && result.op === "txn") return { ...result, ...normalizeTxn(op.txn, result) };
    return result;
  };
  return { succeeded, results: results.map((result, at) => normalize(result, branch[at])) };
}

/** Keys with equal sort values are in no defined order, and any of them may be beyond the limit. */
function normalizeRange(
  { sort }: RangeOp,
  { kvs, count, more }: RangeResult,
): Pick<RangeResult, "kvs"> | object {
  if (sort === undefined || sort.by === "key") return { kvs, count, more };
  const by = sort.by === "create" ? "createRevision" : "modRevision";
  const last = kvs.at(-1)?.[by];
  const groups = [...Map.groupBy(kvs, (kv) => kv[by])];
  return {
    count,
    more,
    kvs: groups.map(([revision, equal]) => {
      const keys = more && revision === last ? equal.length : equal.sort((a, b) => (a.key < b.key ? -1 : 1));
      return { revision, keys };
    }),
  };
}

/**
 * Joins batches, as stores may cut them differently.
 * @param without  the compacted revision, if it was asked for: before 3.4.34 and 3.5.16, etcd delivers no deletes of it (etcd #18089)
 * @throws AssertionError if the events of one revision were torn apart
 */
function toEvents(batches: readonly WatchBatch[] | { error: string }, without: bigint | undefined): Result {
  if (isRefusal(batches)) return batches;
  const revisions = batches.flatMap(({ events }) => [...new Set(events.map(getRevision))]);
  expect(new Set(revisions).size, "batches must not share a revision").toBe(revisions.length);
  const all = batches.flatMap(({ events }) => events);
  return all.filter((event) => event.type === "put" || event.revision !== without);
}

/** @throws StoreError `compacted`, `invalid` */
async function compactByGateway(url: string, revision: bigint) {
  const body = JSON.stringify({ revision: String(revision) });
  const answer = await fetch(`${url}/v3/kv/compaction`, { method: "POST", body });
  const text = await answer.text();
  if (answer.ok) return;
  throw new StoreError(text.includes("has been compacted") ? "compacted" : "invalid", text);
}
