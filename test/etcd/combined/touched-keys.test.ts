import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KeyCollection } from "../../../src/etcd/combined/touched-keys.ts";
import {
  buildPrefixRange,
  type Compare,
  type KeyRange,
  type Op,
  type Txn,
} from "../../../src/protocol/txn.ts";

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
const collect = (...txns: Txn[]) => {
  const keys = new KeyCollection(findScope);
  for (const one of txns) keys.add(one);
  return keys;
};

const cases: { name: string; one: Txn; other: Txn; conflicts: boolean }[] = [
  { name: "other keys", one: txn([put("a")]), other: txn([put("b")]), conflicts: false },
  { name: "two puts of a key", one: txn([put("a")]), other: txn([put("a")]), conflicts: true },
  {
    name: "a put of a key that is compared",
    one: txn([put("a")]),
    other: txn([], [guard("a")]),
    conflicts: true,
  },
  { name: "a put of a key that is read", one: txn([put("a")]), other: txn([readKey("a")]), conflicts: true },
  {
    name: "two that compare one key",
    one: txn([], [guard("a")]),
    other: txn([], [guard("a")]),
    conflicts: false,
  },
  {
    name: "two that compare a range",
    one: txn([put("x")], [guardRange("d/")]),
    other: txn([put("y")], [guardRange("d/")]),
    conflicts: false,
  },
  {
    name: "a put into a range that is compared",
    one: txn([put("d/1")]),
    other: txn([], [guardRange("d/")]),
    conflicts: true,
  },
  {
    name: "a put beside a range that is compared",
    one: txn([put("e")]),
    other: txn([], [guardRange("d/")]),
    conflicts: false,
  },
  {
    name: "a delete of a range and a put into it",
    one: txn([remove("d/", "d0")]),
    other: txn([put("d/1")]),
    conflicts: true,
  },
  {
    name: "a delete of a range and a read in it",
    one: txn([remove("d/", "d0")]),
    other: txn([readKey("d/1")]),
    conflicts: true,
  },
  {
    name: "a delete of a range that overlaps a read",
    one: txn([remove("c", "d/5")]),
    other: txn([read("d/")]),
    conflicts: true,
  },
  {
    name: "a delete of a range up to a key",
    one: txn([remove("c", "d")]),
    other: txn([put("d")]),
    conflicts: false,
  },
  {
    name: "a write of the failure branch",
    one: txn([], [], [put("a")]),
    other: txn([put("a")]),
    conflicts: true,
  },
  {
    name: "a write in a nested transaction",
    one: txn([{ op: "txn", txn: txn([], [], [put("a")]) }]),
    other: txn([], [guard("a")]),
    conflicts: true,
  },
  {
    name: "two tickets of a queue",
    one: txn([put("queue/q/1")]),
    other: txn([put("queue/q/2")]),
    conflicts: true,
  },
  {
    name: "tickets of two queues",
    one: txn([put("queue/q/1")]),
    other: txn([put("queue/r/1")]),
    conflicts: false,
  },
  {
    name: "a ticket and a read of its queue",
    one: txn([put("queue/q/1")]),
    other: txn([read("queue/q/")]),
    conflicts: true,
  },
  {
    name: "a ticket and a guard of another ticket of its queue",
    one: txn([remove("queue/q/1")]),
    other: txn([], [guard("queue/q/2")]),
    conflicts: true,
  },
];

describe("the keys of two transactions", () => {
  test.each(cases)("$name: $conflicts", ({ one, other, conflicts }) => {
    expect(collect(one).conflictsWith(collect(other))).toBe(conflicts);
    expect(collect(other).conflictsWith(collect(one))).toBe(conflicts);
  });

  test("are kept when collections are merged", () => {
    const all = collect(txn([put("x")]));
    all.merge(collect(txn([put("a"), remove("c", "d"), read("r/")], [guard("g")])));
    const conflicting = [put("a"), put("c1"), put("r/1"), put("g"), put("x")];
    expect(conflicting.map((op) => all.conflictsWith(collect(txn([op]))))).toEqual(Array(5).fill(true));
    expect(all.conflictsWith(collect(txn([put("free")])))).toBe(false);
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
      const seen = collect(txn(first));
      seen.conflictsWith(collect(txn([read("a")]))); // what it builds to answer must not miss what comes later
      seen.merge(collect(txn(merged)));
      const expected = [...first, ...merged].some((one) => candidate.some((other) => meets(one, other)));
      expect(seen.conflictsWith(collect(txn(candidate)))).toBe(expected);
      expect(collect(txn(candidate)).conflictsWith(seen)).toBe(expected);
    }),
    { numRuns: 2_000 },
  );
});
