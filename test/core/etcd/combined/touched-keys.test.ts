import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KeyCollection, SortedKeys } from "../../../../src/core/etcd/combined-store.ts";
import {
  buildPrefixRange,
  type Compare,
  type KeyRange,
  type Op,
  type Txn,
} from "../../../../src/core/protocol/txn.ts";

const put = (key: string): Op => ({ op: "put", key, value: "" });
const remove = (key: string, rangeEnd?: string): Op => ({
  op: "delete",
  key,
  ...(rangeEnd !== undefined && { rangeEnd }),
});
const read = (prefix: string): Op => ({ op: "range", ...buildPrefixRange(prefix) });
const readKey = (key: string): Op => ({ op: "range", key });
const guard = (key: string): Compare => ({ key, target: "mod", is: "equal", value: 0n });
const guardRange = (prefix: string): Compare => ({
  ...buildPrefixRange(prefix),
  target: "mod",
  is: "less",
  value: 9n,
});
const txn = (success: Op[], compare: Compare[] = [], failure: Op[] = []): Txn => ({
  compare,
  success,
  failure,
});
/** The tickets of a queue are below `queue/NAME/`. */
const findScope = (key: string) => {
  const [, queue] = /^(queue\/[^/]+\/)/.exec(key) ?? [];
  return queue === undefined ? undefined : buildPrefixRange(queue);
};
const collect = (parts: Parts | Txn) => {
  const keys = new KeyCollection(findScope);
  keys.add(build(parts));
  return keys;
};

/** What a transaction does if it succeeds, and compares. */
type Parts = (Op | Compare)[];
const build = (parts: Parts | Txn) =>
  Array.isArray(parts)
    ? txn(
        parts.filter((part) => "op" in part),
        parts.filter((part): part is Compare => !("op" in part)),
      )
    : parts;

const cases: [name: string, one: Parts | Txn, other: Parts, conflicts: boolean][] = [
  ["other keys", [put("a")], [put("b")], false],
  ["two puts of a key", [put("a")], [put("a")], true],
  ["a put of a key that is compared", [put("a")], [guard("a")], true],
  ["a put of a key that is read", [put("a")], [readKey("a")], true],
  ["two that compare one key", [guard("a")], [guard("a")], false],
  ["two that compare a range", [put("x"), guardRange("d/")], [put("y"), guardRange("d/")], false],
  ["a put into a range that is compared", [put("d/1")], [guardRange("d/")], true],
  ["a put beside a range that is compared", [put("e")], [guardRange("d/")], false],
  ["a delete of a range and a put into it", [remove("d/", "d0")], [put("d/1")], true],
  ["a delete of a range and a read in it", [remove("d/", "d0")], [readKey("d/1")], true],
  ["a delete of a range that overlaps a read", [remove("c", "d/5")], [read("d/")], true],
  ["a delete of a range up to a key", [remove("c", "d")], [put("d")], false],
  ["a write of the failure branch", txn([], [], [put("a")]), [put("a")], true],
  ["a write in a nested transaction", [{ op: "txn", txn: txn([], [], [put("a")]) }], [guard("a")], true],
  ["two tickets of a queue", [put("queue/q/1")], [put("queue/q/2")], true],
  ["tickets of two queues", [put("queue/q/1")], [put("queue/r/1")], false],
  ["a ticket and a read of its queue", [put("queue/q/1")], [read("queue/q/")], true],
  ["a ticket and a guard of another ticket of its queue", [remove("queue/q/1")], [guard("queue/q/2")], true],
];

describe("the keys of two transactions", () => {
  test.each(cases)("%s", (_, one, other, conflicts) => {
    expect(collect(one).conflictsWith(collect(other))).toBe(conflicts);
    expect(collect(other).conflictsWith(collect(one))).toBe(conflicts);
  });

  test("are kept when collections are merged", () => {
    const all = collect([put("x")]);
    all.merge(collect([put("a"), remove("c", "d"), read("r/"), guard("g")]));
    const keys = ["a", "c1", "r/1", "g", "x", "free"];
    const conflicting = keys.filter((key) => all.conflictsWith(collect([put(key)])));
    expect(conflicting).toEqual(keys.slice(0, -1));
  });
});

/** Keys of two letters, and ranges between two of them. */
const anyKey = fc.constantFrom("a", "aa", "ab", "b", "ba", "bb");
const anyRange = fc.tuple(anyKey, anyKey).filter(([key, rangeEnd]) => key < rangeEnd);
const anyOp: fc.Arbitrary<Op> = fc.oneof(
  anyKey.map(put),
  anyKey.map(readKey),
  anyRange.map(([key, rangeEnd]) => remove(key, rangeEnd)),
  anyRange.map(([key, rangeEnd]): Op => ({ op: "range", key, rangeEnd })),
);
const anyOps = fc.array(anyOp, { maxLength: 4 });

test("two collections conflict if a write of one meets anything of the other, also after a merge", () => {
  const covers = ({ key, rangeEnd }: Op & KeyRange, other: Op & KeyRange) => {
    const end = rangeEnd ?? `${key}\0`;
    const otherEnd = other.rangeEnd ?? `${other.key}\0`;
    return key < end && other.key < otherEnd && key < otherEnd && other.key < end;
  };
  const meets = (one: Op, other: Op) =>
    (one.op !== "range" || other.op !== "range") &&
    one.op !== "txn" &&
    other.op !== "txn" &&
    covers(one, other);
  fc.assert(
    fc.property(anyOps, anyOps, anyOps, (first, merged, candidate) => {
      const seen = collect(first);
      seen.conflictsWith(collect([read("a")])); // what it builds to answer must not miss what comes later
      seen.merge(collect(merged));
      const expected = [...first, ...merged].some((one) => candidate.some((other) => meets(one, other)));
      expect(seen.conflictsWith(collect(candidate))).toBe(expected);
      expect(collect(candidate).conflictsWith(seen)).toBe(expected);
    }),
    { numRuns: 2_000 },
  );
});

const anyName = fc.string({ unit: fc.constantFrom("a", "b", "/", "\u00ff"), maxLength: 4 });

test("sorted keys find those of a range, whatever the order in which they were added", () => {
  fc.assert(
    fc.property(fc.array(anyName), fc.array(anyName), anyName, anyName, (first, later, start, rangeEnd) => {
      const keys = new SortedKeys(first);
      for (const one of later) keys.add(one);
      const isIn = (one: string) => one >= start && one < rangeEnd;
      expect(keys.hasKeyIn({ key: start, rangeEnd })).toBe([...first, ...later].some(isIn));
    }),
  );
});
