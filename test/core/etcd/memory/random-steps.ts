import type { NamedRandom } from "../../../../scripts/demo/named-random.ts";
import type { MemoryEtcd } from "../../../../src/core/etcd/memory/memory-store.ts";
import type { RangeRead } from "../../../../src/core/etcd/store.ts";
import {
  buildPrefixRange,
  type Compare,
  type KeyRange,
  type Op,
  type RangeOp,
  type Txn,
  type WatchRequest,
} from "../../../../src/core/protocol/txn.ts";

/** One operation on an etcd. */
export type Step =
  | { kind: "txn"; txn: Txn }
  | { kind: "range"; range: RangeRead }
  | { kind: "grant"; id: bigint; ttl: number }
  | { kind: "renew" | "revoke" | "time" | "keys"; id: bigint }
  | { kind: "sessions" }
  | { kind: "compact"; revision: bigint }
  | { kind: "watch"; request: WatchRequest; isLive: boolean };

const KEYS = [
  "a",
  "aa",
  "ab",
  "a/",
  "a/1",
  "a/2",
  "b",
  "b\0",
  "ba",
  "c",
  "\x7f",
  "\xc3\xa4",
  "\xff",
  "\xff\xff",
];
const VALUES = ["", "0", "1", "10", "2", "a", "ä", "\u{1f600}", "\uffff", "a\0", "long".repeat(300)];
const IDS = [1n, 2n, 3n, 4n, 77n, 0x7fff_ffff_ffff_ffffn];
/** Times to live, s. None ends during a test. */
const TTLS = [600, 3_600, 86_400];
const DEEPEST = 2;

/** Draws operations. They are likely to meet what is there: it is read from the etcd in memory. */
export class RandomSteps {
  readonly #random: NamedRandom;
  readonly #etcd: MemoryEtcd;

  constructor(random: NamedRandom, etcd: MemoryEtcd) {
    this.#random = random;
    this.#etcd = etcd;
  }

  drawStep(): Step {
    const id = this.#pick(IDS);
    return this.#pickWeighted<Step>([
      [60, () => this.#drawTxnStep()],
      [22, () => ({ kind: "range", range: this.#drawRead() })],
      [4, () => ({ kind: "grant", id, ttl: this.#pick(TTLS) })],
      [2, () => ({ kind: "renew", id })],
      [2, () => ({ kind: "revoke", id })],
      [2, () => ({ kind: "time", id })],
      [3, () => ({ kind: "keys", id })],
      [1, () => ({ kind: "sessions" })],
      [1, () => ({ kind: "compact", revision: this.#drawRevision() })],
      [2, () => this.#drawWatch()],
    ]);
  }

  #draw(least: number, most: number): number {
    return Math.floor(this.#random.drawBetween([least, most + 1]));
  }

  #pick<T>(list: readonly T[]): T {
    return this.#random.pickOne(list as readonly [T, ...T[]]);
  }

  #isDrawn(share: number): boolean {
    return this.#random.drawUnit() < share;
  }

  #pickWeighted<T>(choices: readonly (readonly [number, () => T])[]): T {
    let left = this.#random.drawUnit() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, make] of choices) {
      left -= weight;
      if (left < 0) return make();
    }
    throw new Error("there is nothing to choose from");
  }

  #drawList<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.#draw(0, most) }, make);
  }

  #drawKey(): string {
    return this.#isDrawn(0.005) ? "" : this.#pick(KEYS);
  }

  #drawRange(): KeyRange {
    const key = this.#drawKey();
    return this.#pickWeighted<KeyRange>([
      [5, () => ({ key })],
      [2, () => ({ key, rangeEnd: this.#pick(KEYS) })],
      [2, () => buildPrefixRange(this.#pick(["a", "a/", "b"]))],
      [1, () => ({ key, rangeEnd: "\0" })],
      [1, () => ({ key: "\0", rangeEnd: "\0" })],
      [0.2, () => ({ key, rangeEnd: "" })],
    ]);
  }

  /** A revision that may be of the past, of the future, or compacted. */
  #drawRevision(): bigint {
    const { revision, compacted } = this.#etcd;
    const recent = revision - BigInt(this.#draw(-1, 30));
    const drawn = this.#pick([recent, recent, revision, compacted, compacted + 1n, compacted - 1n]);
    return drawn > 0n ? drawn : 1n;
  }

  #drawReadOptions(): Omit<RangeOp, keyof KeyRange> {
    const by = this.#pick(["key", "create", "mod"] as const);
    const order = this.#pick(["ascend", "descend"] as const);
    return {
      ...(this.#isDrawn(0.4) && { limit: this.#draw(0, 4) }),
      ...(this.#isDrawn(0.4) && { sort: { by, order } }),
      ...(this.#isDrawn(0.2) && { minCreateRevision: this.#drawRevision() }),
      ...(this.#isDrawn(0.2) && { maxCreateRevision: this.#drawRevision() }),
      ...(this.#isDrawn(0.2) && { keysOnly: true }),
      ...(this.#isDrawn(0.1) && { countOnly: true }),
    };
  }

  #drawRead(): RangeRead {
    return {
      ...this.#drawRange(),
      ...this.#drawReadOptions(),
      ...(this.#isDrawn(0.4) && { revision: this.#drawRevision() }),
      ...(this.#isDrawn(0.1) && { binaryValues: true }),
    };
  }

  /**
   * A range up to "\0" is deleted alone. etcd does not notice that such a range has a key which the transaction puts, as it does with
   * others: it ends with a panic if the put keeps a session that is not there, and 3.5 loses the value when it compacts this revision.
   */
  #drawTxnStep(): Step {
    if (!this.#isDrawn(0.02)) return { kind: "txn", txn: this.#drawTxn(DEEPEST) };
    const deletion = { op: "delete", key: this.#drawKey(), rangeEnd: "\0" } as const;
    return { kind: "txn", txn: { compare: [], success: [deletion], failure: [] } };
  }

  #drawTxn(depth: number): Txn {
    return {
      compare: this.#drawList(2, () => this.#drawCompare()),
      success: this.#drawList(3, () => this.#drawOp(depth)),
      failure: this.#drawList(3, () => this.#drawOp(depth)),
    };
  }

  #drawCompare(): Compare {
    const range = this.#drawRange();
    const is = this.#pick(["equal", "notEqual", "less", "greater"] as const);
    const [there] = range.key === "" ? [] : this.#etcd.range({ ...range, limit: 1 }).kvs;
    const target = this.#pick(["create", "mod", "session", "value"] as const);
    const isThere = this.#isDrawn(0.7);
    if (target === "value")
      return { ...range, is, target, value: isThere && there ? there.value : this.#pick(VALUES) };
    if (target === "session")
      return { ...range, is, target, value: isThere ? (there?.session ?? 0n) : this.#pick([0n, ...IDS]) };
    const actual = target === "create" ? there?.createRevision : there?.modRevision;
    return { ...range, is, target, value: isThere ? (actual ?? 0n) : this.#drawRevision() };
  }

  #drawOp(depth: number): Op {
    const nested: [number, () => Op][] =
      depth > 0 ? [[1.5, () => ({ op: "txn", txn: this.#drawTxn(depth - 1) })]] : [];
    return this.#pickWeighted<Op>([
      [5, () => this.#drawPut()],
      [1, () => ({ op: "delete", key: this.#drawKey() })],
      [0.7, () => ({ op: "delete", ...this.#drawDeletedRange() })],
      [2, () => ({ op: "range", ...this.#drawRange(), ...this.#drawReadOptions() })],
      ...nested,
    ]);
  }

  #drawDeletedRange(): KeyRange {
    const range = this.#drawRange();
    return range.rangeEnd === "\0" ? { key: range.key } : range;
  }

  #drawPut(): Op {
    return {
      op: "put",
      key: this.#drawKey(),
      value: this.#pick(VALUES),
      ...(this.#isDrawn(0.3) && { session: this.#pick(this.#isDrawn(0.8) ? this.#listSessions() : IDS) }),
      ...(this.#isDrawn(0.16) && { keepSession: true }),
    };
  }

  #listSessions(): bigint[] {
    const present = this.#etcd.listSessions();
    return present.length > 0 ? present : IDS;
  }

  #drawWatch(): Step {
    const isLive = this.#isDrawn(0.5);
    const key = this.#pick(KEYS);
    const range = this.#pick([
      { key },
      buildPrefixRange("a"),
      { key, rangeEnd: "\0" },
      { key: "\0", rangeEnd: "\0" },
    ]);
    const only = this.#pick([undefined, undefined, "puts", "deletes"] as const);
    const from = isLive ? this.#etcd.revision + 1n : this.#drawRevision();
    return { kind: "watch", request: { ranges: [{ ...range, ...(only && { only }) }], from }, isLive };
  }
}
