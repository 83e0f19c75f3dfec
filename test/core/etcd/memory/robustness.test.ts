/** The etcd in memory answers what a real cluster has answered in etcd's own robustness test. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { MemoryEtcd } from "../../../../src/core/etcd/memory/memory-store-core.ts";
import {
  buildPrefixRange,
  type Op,
  type OpResult,
  type RangeResult,
  type WatchEvent,
} from "../../../../src/core/protocol/txn.ts";

type StoredKey = [key: string, value: string, modRevision: number];
type StoredEvent = [revision: number, kind: string, key: string, value?: string];
type StoredOp = [kind: string, key: string, value?: string];

interface StoredRead {
  range: [key: string, rangeEnd: string];
  limit: number;
  /** A past revision. */
  at?: number;
  answer?: { revision: number; count: number; kvs: StoredKey[] };
}

interface StoredTxn {
  compare: [key: string, modRevision: number][];
  success: StoredOp[];
  failure: StoredOp[];
  answer?: { revision: number; succeeded: boolean; results: object[] };
}

interface StoredWatch {
  prefix: string;
  from: number;
  until: number;
}

interface History {
  operations: (StoredRead | StoredTxn)[];
  events: StoredEvent[];
  watches: StoredWatch[];
}

function readHistory(): History {
  const readLines = (name: string) =>
    readFileSync(
      resolve(import.meta.dirname, `../../../../fixtures/histories/robustness/${name}.jsonl`),
      "utf8",
    )
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  return {
    operations: readLines("operations"),
    events: readLines("events"),
    watches: readLines("watches"),
  };
}

const isTxn = (operation: StoredRead | StoredTxn): operation is StoredTxn => "compare" in operation;

/** Repeats a history in memory, revision by revision. */
class Replay {
  readonly #counts = { reads: 0, writes: 0, refusals: 0, unanswered: 0, watches: 0 };
  readonly #etcd = new MemoryEtcd({ now: () => 0 });
  readonly #history: History;

  constructor(history: History) {
    this.#history = history;
  }

  /** @returns what was compared @throws Error at the first difference */
  run(): object {
    const { operations, events, watches } = this.#history;
    const answered = Map.groupBy(operations, ({ answer }) => answer?.revision);
    const unanswered = new Set(operations.filter(isTxn).filter(({ answer }) => answer === undefined));
    this.#compareReads(answered.get(1) ?? []);
    for (const event of events) {
      const [revision] = event;
      const all = answered.get(revision) ?? [];
      const write = all.find((one) => isTxn(one) && one.answer?.succeeded) as StoredTxn | undefined;
      if (write === undefined) this.#applyUnanswered(unanswered, event);
      else this.#compareTxn(write, event);
      this.#compareReads(all.filter((one) => one !== write));
    }
    for (const watch of watches) this.#compareWatch(watch);
    return this.#counts;
  }

  /** What has written the event is one of the transactions that had no answer in time. */
  #applyUnanswered(unanswered: Set<StoredTxn>, event: StoredEvent): void {
    const [, ...op] = event;
    for (const { success, compare, ...rest } of unanswered) {
      const isPossible = compare.every(([key, revision]) => this.#findModRevision(key) === revision);
      if (!isPossible || !isDeepStrictEqual(success, [op])) continue;
      this.#counts.unanswered += 1;
      this.#apply({ success, compare, ...rest });
      return this.#compareEvent(event);
    }
    throw new Error(`nothing can have written ${event}`);
  }

  #compareTxn(txn: StoredTxn, event: StoredEvent): void {
    this.#counts.writes += 1;
    this.#compare(this.#apply(txn), txn.answer, txn);
    this.#compareEvent(event);
  }

  #compareEvent(event: StoredEvent): void {
    const [revision] = event;
    this.#compare(this.#listEvents("\0", BigInt(revision)), [event], event);
  }

  #compareReads(operations: (StoredRead | StoredTxn)[]): void {
    for (const one of operations) {
      this.#counts[isTxn(one) ? "refusals" : "reads"] += 1;
      if (isTxn(one)) this.#compare(this.#apply(one), one.answer, one);
      else this.#compare(this.#read(one), one.answer, one);
    }
  }

  #compareWatch({ prefix, from, until }: StoredWatch): void {
    this.#counts.watches += 1;
    const isWatched = ([revision, , key]: StoredEvent) => revision >= from && key.startsWith(prefix);
    const actual = this.#listEvents(prefix || "\0", BigInt(from)).filter(([revision]) => revision <= until);
    const expected = this.#history.events.filter((event) => event[0] <= until && isWatched(event));
    this.#compare(actual, expected, { prefix, from });
  }

  #findModRevision(key: string): number {
    return Number(this.#etcd.range({ key }).kvs[0]?.modRevision ?? 0);
  }

  #apply({ compare, success, failure }: StoredTxn): object {
    const { revision, succeeded, results } = this.#etcd.apply({
      compare: compare.map(([key, value]) => ({ key, target: "mod", is: "equal", value: BigInt(value) })),
      success: success.map(toOp),
      failure: failure.map(toOp),
    });
    return { revision: Number(revision), succeeded, results: results.map(toStoredResult) };
  }

  #read({ range: [key, rangeEnd], limit, at, answer }: StoredRead): object {
    const range = { key, rangeEnd, limit, ...(at !== undefined && { revision: BigInt(at) }) };
    const { revision, ...read } = this.#etcd.range(range);
    // A read of the past has its revision here, and that of the present in etcd.
    return { revision: at === undefined ? Number(revision) : answer?.revision, ...toStoredRange(read) };
  }

  #listEvents(prefix: string, from: bigint): StoredEvent[] {
    const found: WatchEvent[] = [];
    const range = prefix === "\0" ? { key: prefix, rangeEnd: prefix } : buildPrefixRange(prefix);
    this.#etcd.subscribe([range], from, ({ events }) => found.push(...events))();
    return found.map((event) =>
      event.type === "put"
        ? [Number(event.kv.modRevision), "put", event.kv.key, event.kv.value]
        : [Number(event.revision), "delete", event.key],
    );
  }

  #compare(actual: unknown, expected: unknown, what: object): void {
    if (isDeepStrictEqual(actual, expected)) return;
    throw new Error(`${JSON.stringify(what)}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
  }
}

function toOp([kind, key, value = ""]: StoredOp): Op {
  if (kind === "put") return { op: "put", key, value };
  return kind === "delete" ? { op: "delete", key } : { op: "range", key };
}

function toStoredRange({ count, kvs }: Pick<RangeResult, "count" | "kvs">): object {
  return { count, kvs: kvs.map(({ key, value, modRevision }) => [key, value, Number(modRevision)]) };
}

function toStoredResult(result: OpResult): object {
  if (result.op === "range") return toStoredRange(result);
  return result.op === "delete" ? { deleted: result.deleted } : {};
}

test("all answers and events are the same", () => {
  expect(new Replay(readHistory()).run()).toEqual({
    reads: 277,
    writes: 537,
    refusals: 269,
    unanswered: 13,
    watches: 55,
  });
});

describe("a history that etcd did not have is refused, if", () => {
  test.each<[string, string, (history: History) => unknown]>([
    [
      "an event has another value",
      '"tombstone"',
      ({ events }) => events.splice(99, 1, [101, "put", "tombstone", "x"]),
    ],
    ["an event is missing", '"revision":102', ({ events }) => events.splice(99, 1)],
    [
      "a refused transaction has succeeded",
      '"succeeded":false',
      ({ operations }) => {
        const refused = operations.filter(isTxn).find(({ answer }) => answer?.succeeded === false);
        Object.assign(refused?.answer ?? {}, { succeeded: true });
      },
    ],
    [
      "a read has missed a key",
      '"range"',
      ({ operations }) => operations.find((one) => !isTxn(one) && one.answer?.kvs.splice(0, 1)),
    ],
    [
      "a transaction without an answer was never sent",
      "nothing can have written",
      ({ operations }) =>
        operations.splice(0, Number.POSITIVE_INFINITY, ...operations.filter(({ answer }) => answer)),
    ],
  ])("%s", (_, says, change) => {
    const history = readHistory();
    change(history);
    expect(() => new Replay(history).run()).toThrow(says);
  });
});
