import type { KeyRange, Op, Txn } from "../../protocol/txn.ts";

/** Finds the keys that an order depends on: for a ticket its whole queue. Undefined: the key alone. */
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
    for (const key of other.writtenKeys) this.writtenKeys.add(key);
    for (const [id, range] of other.readRanges) this.readRanges.set(id, range);
    for (const [id, range] of other.writtenRanges) this.writtenRanges.set(id, range);
  }

  /** Returns whether either writes something that the other compares, reads or writes. */
  conflictsWith(other: TouchedKeys): boolean {
    return writesWhatIsTouched(this, other) || writesWhatIsTouched(other, this);
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
    else this.writtenKeys.add(key);
  }
}

function addRange(ranges: Map<string, Required<KeyRange>>, key: string, rangeEnd: string): void {
  ranges.set(`${key}\0\0${rangeEnd}`, { key, rangeEnd });
}

function writesWhatIsTouched(writer: TouchedKeys, other: TouchedKeys): boolean {
  for (const key of writer.writtenKeys)
    if (
      other.readKeys.has(key) ||
      other.writtenKeys.has(key) ||
      isInAny(other.readRanges, key) ||
      isInAny(other.writtenRanges, key)
    )
      return true;
  for (const range of writer.writtenRanges.values())
    if (
      overlapsAny(other.readRanges, range) ||
      overlapsAny(other.writtenRanges, range) ||
      containsAny(range, other.readKeys)
    )
      return true;
  return false; // a range of the writer that holds a written key of the other is found in the opposite direction
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
