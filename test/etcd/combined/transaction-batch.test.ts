import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  buildBatchTxn,
  chooseBatch,
  computeRequestSize,
  countOperations,
  MOST_MEMBERS,
  splitResponse,
} from "../../../src/etcd/combined/combined-store.ts";
import { MemoryEtcd } from "../../../src/etcd/memory/memory-store.ts";
import type { Compare, Op, Txn, TxnResult } from "../../../src/protocol/txn.ts";

const put = (key: string, value = ""): Op => ({ op: "put", key, value });
const txn = (success: Op[], compare: Compare[] = []): Txn => ({ compare, success, failure: [] });
const guard = (key: string): Compare => ({ key, target: "mod", is: "equal", value: 0n });
const candidate = (one: Txn, isAlone = false) => ({ txn: one, isAlone });
const findNoScope = () => undefined;
const choose = (...candidates: ReturnType<typeof candidate>[]) =>
  chooseBatch(candidates, findNoScope).map((one) => candidates.indexOf(one));

describe("a batch", () => {
  test("takes all that fit together", () => {
    expect(choose(candidate(txn([put("a")])), candidate(txn([put("b")])))).toEqual([0, 1]);
    expect(choose()).toEqual([]);
  });

  test("leaves out who conflicts with a member", () => {
    const [first, second] = [candidate(txn([put("a")])), candidate(txn([put("a"), put("b")]))];
    expect(choose(first, second, candidate(txn([put("b")])), candidate(txn([put("c")])))).toEqual([0, 2, 3]);
  });

  test("has a limit of members", () => {
    const many = Array.from({ length: 200 }, (_, at) => candidate(txn([put(`k${at}`)])));
    expect(choose(...many)).toEqual(Array.from({ length: MOST_MEMBERS }, (_, at) => at));
  });

  test("has a limit of operations, counted as etcd counts them", () => {
    const large = candidate(
      txn(
        [],
        Array.from({ length: 100 }, (_, at) => guard(`g${at}`)),
      ),
    );
    const small = Array.from({ length: 60 }, (_, at) => candidate(txn([put(`k${at}`)])));
    expect(choose(large, ...small)).toHaveLength(28); // 28 members, and 100 guards of one of them
    const nested: Op = { op: "txn", txn: txn([put("n")], [guard("1"), guard("2")]) };
    expect(countOperations(txn([nested, put("a")], [guard("x")]))).toBe(4);
    expect(() =>
      new MemoryEtcd({ now: () => 0 }).apply(buildBatchTxn([large, ...small.slice(0, 27)])),
    ).not.toThrow();
  });

  test("has a limit of bytes, and takes one that is larger by itself", () => {
    const large = (key: string) => candidate(txn([put(key, "x".repeat(200_000))]));
    expect(choose(large("a"), large("b"), candidate(txn([put("c")])))).toEqual([0, 2]);
    expect(choose(candidate(txn([put("a", "x".repeat(900_000))])), large("b"))).toEqual([0]);
    expect(computeRequestSize(txn([{ op: "txn", txn: txn([put("abc", "12345")], [guard("g")]) }]))).toBe(129);
  });

  test("is one alone that must be alone", () => {
    expect(choose(candidate(txn([put("a")]), true), candidate(txn([put("b")])))).toEqual([0]);
    const alone = candidate(txn([put("b")]), true);
    expect(
      choose(candidate(txn([put("a")])), alone, candidate(txn([put("b")])), candidate(txn([put("c")]))),
    ).toEqual([0, 2, 3]);
  });

  test("gives every member what it would get by itself", () => {
    const key = fc.constantFrom("a", "b", "c", "d", "e", "f");
    const member = fc.record({ puts: key, compared: key, read: key, deletes: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(key, { maxLength: 4 }),
        fc.array(member, { minLength: 2, maxLength: 8 }),
        (there, members) => {
          const txns = members.map(({ puts, compared, read, deletes }): Txn => {
            const reads: Op = { op: "range", key: read };
            const write: Op = deletes ? { op: "delete", key: puts } : put(puts, "new");
            return { compare: [guard(compared)], success: [write, reads], failure: [reads] };
          });
          const chosen = chooseBatch(
            txns.map((one) => candidate(one)),
            findNoScope,
          );
          if (chosen.length < 2) return;
          const [together, oneByOne] = [createEtcd(there), createEtcd(there)];
          const answers = splitResponse(together.apply(buildBatchTxn(chosen)));
          expect(answers.map(describeResult)).toEqual(
            chosen.map(({ txn: one }) => describeResult(oneByOne.apply(one))),
          );
          const all = { key: "\0", rangeEnd: "\0" };
          expect(together.range(all).kvs.map(({ key: name, value }) => [name, value])).toEqual(
            oneByOne.range(all).kvs.map(({ key: name, value }) => [name, value]),
          );
        },
      ),
    );
  });
});

function createEtcd(keys: readonly string[]): MemoryEtcd {
  const etcd = new MemoryEtcd({ now: () => 0 });
  for (const key of keys) etcd.apply(txn([put(key, "old")]));
  return etcd;
}

/** A result without revisions, which differ. */
function describeResult({ succeeded, results }: TxnResult) {
  return {
    succeeded,
    results: results.map((result) =>
      result.op === "range" ? result.kvs.map(({ key, value }) => [key, value]) : result,
    ),
  };
}
