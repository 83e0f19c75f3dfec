import { bisect } from "../../base/bisect.ts";
import type { KeyRange, Op, Txn } from "../../protocol/txn.ts";

/** Keys in order, so that those of a range are found by bisection. */
export class SortedKeys {
  readonly #keys: string[];

  constructor(keys: Iterable<string>) {
    this.#keys = [...keys].sort(compareKeys);
  }

  /** Adds a key. Duplicates are allowed. */
  add(key: string): void {
    this.#keys.splice(this.#findPlace(key), 0, key);
  }

  hasKeyIn({ key: start, rangeEnd }: Required<KeyRange>): boolean {
    const first = this.#keys[this.#findPlace(start)];
    return first !== undefined && first < rangeEnd;
  }

  /** Returns the index of the first key that is not before `key`. */
  #findPlace(key: string): number {
    return bisect(this.#keys.length, (at) => (this.#keys[at] as string) < key);
  }
}

/** A key has one character per byte, so the order of strings is etcd's order of keys. */
function compareKeys(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Returns the range whose order a write of the key changes: the queue of a ticket. Undefined if only the key matters. */
export type FindScope = (key: string) => Required<KeyRange> | undefined;

/** The keys that a transaction compares, reads or writes. */
export interface TouchedKeys {
  /** Single keys that are compared or read. */
  readonly readKeys: ReadonlySet<string>;
  /** Ranges that are compared or read, by their bounds, so that equal ranges are found once. */
  readonly readRanges: ReadonlyMap<string, Required<KeyRange>>;
  readonly writtenKeys: ReadonlySet<string>;
  readonly writtenRanges: ReadonlyMap<string, Required<KeyRange>>;
}

/** Keys that are collected over several transactions. */
export class KeyCollection implements TouchedKeys {
  readonly readKeys = new Set<string>();
  readonly readRanges = new Map<string, Required<KeyRange>>();
  readonly writtenKeys = new Set<string>();
  readonly writtenRanges = new Map<string, Required<KeyRange>>();
  /** The written keys in order, to search hundreds of them for a range. Built on first use. */
  #sortedWritten: SortedKeys | undefined;
  readonly #findScope: FindScope;

  constructor(findScope: FindScope) {
    this.#findScope = findScope;
  }

  /** Adds all keys of a transaction, of both branches and of nested transactions. */
  add({ compare, success, failure }: Txn): this {
    for (const range of compare) this.#addRead(range);
    for (const op of success) this.#addOp(op);
    for (const op of failure) this.#addOp(op);
    return this;
  }

  merge(other: TouchedKeys): void {
    for (const key of other.readKeys) this.readKeys.add(key);
    for (const key of other.writtenKeys) this.#addWrittenKey(key);
    for (const [id, range] of other.readRanges) this.readRanges.set(id, range);
    for (const [id, range] of other.writtenRanges) this.writtenRanges.set(id, range);
  }

  /**
   * Returns whether either writes something that the other compares, reads or writes.
   * @param other  the smaller of the two: the time depends on its keys
   */
  conflictsWith(other: TouchedKeys): boolean {
    return this.#touchesWritesOf(other) || this.#writesReadsOf(other);
  }

  #touchesWritesOf({ writtenKeys, writtenRanges }: TouchedKeys): boolean {
    for (const key of writtenKeys) if (this.#reads(key) || this.#writes(key)) return true;
    for (const range of writtenRanges.values())
      if (this.#writesIn(range) || this.#readsIn(range)) return true;
    return false;
  }

  #writesReadsOf({ readKeys, readRanges }: TouchedKeys): boolean {
    for (const key of readKeys) if (this.#writes(key)) return true;
    for (const range of readRanges.values()) if (this.#writesIn(range)) return true;
    return false;
  }

  #reads(key: string): boolean {
    return this.readKeys.has(key) || isInAny(this.readRanges, key);
  }

  #writes(key: string): boolean {
    return this.writtenKeys.has(key) || isInAny(this.writtenRanges, key);
  }

  #readsIn(range: Required<KeyRange>): boolean {
    return containsAny(range, this.readKeys) || overlapsAny(this.readRanges, range);
  }

  #writesIn(range: Required<KeyRange>): boolean {
    this.#sortedWritten ??= new SortedKeys(this.writtenKeys);
    return this.#sortedWritten.hasKeyIn(range) || overlapsAny(this.writtenRanges, range);
  }

  #addWrittenKey(key: string): void {
    this.writtenKeys.add(key);
    this.#sortedWritten?.add(key);
  }

  #addOp(op: Op): void {
    if (op.op === "txn") this.add(op.txn);
    else if (op.op === "range") this.#addRead(op);
    else this.#addWrite(op);
  }

  #addRead(range: KeyRange): void {
    if (range.rangeEnd === undefined) this.readKeys.add(range.key);
    else addRange(this.readRanges, range.key, range.rangeEnd);
  }

  #addWrite({ key, rangeEnd }: KeyRange): void {
    const scope = rangeEnd === undefined ? this.#findScope(key) : undefined;
    if (scope !== undefined) addRange(this.writtenRanges, scope.key, scope.rangeEnd);
    else if (rangeEnd !== undefined) addRange(this.writtenRanges, key, rangeEnd);
    else this.#addWrittenKey(key);
  }
}

function addRange(ranges: Map<string, Required<KeyRange>>, key: string, rangeEnd: string): void {
  ranges.set(`${key}\0\0${rangeEnd}`, { key, rangeEnd });
}

function isInAny(ranges: ReadonlyMap<string, Required<KeyRange>>, key: string): boolean {
  for (const range of ranges.values()) if (isIn(range, key)) return true;
  return false;
}

function containsAny(range: Required<KeyRange>, keys: ReadonlySet<string>): boolean {
  for (const key of keys) if (isIn(range, key)) return true;
  return false;
}

function overlapsAny(
  ranges: ReadonlyMap<string, Required<KeyRange>>,
  { key, rangeEnd }: Required<KeyRange>,
): boolean {
  for (const other of ranges.values()) if (key < other.rangeEnd && other.key < rangeEnd) return true;
  return false;
}

function isIn({ key: start, rangeEnd }: Required<KeyRange>, key: string): boolean {
  return key >= start && key < rangeEnd;
}
