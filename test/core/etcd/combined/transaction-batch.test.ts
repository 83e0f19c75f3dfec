import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  buildBatchTxn,
  chooseBatch,
  computeRequestSize,
  countOperations,
  MOST_MEMBERS,
  splitResponse,
} from "../../../../src/core/etcd/combined-store.ts";
import { MemoryEtcd } from "../../../../src/core/etcd/memory/memory-store.ts";
import type { Compare, KeyValue, Op, Txn, TxnResult } from "../../../../src/core/protocol/txn.ts";

const put = (key: string, value = ""): Op => ({ op: "put", key, value });
const txn = (success: Op[], compare: Compare[] = []): Txn => ({ compare, success, failure: [] });
const guard = (key: string): Compare => ({ key, target: "mod", is: "equal", value: 0n });
const candidate = (one: Txn, isAlone = false) => ({ txn: one, isAlone });
const putting = (...keys: string[]) => candidate(txn(keys.map((key) => put(key))));
const findNoScope = () => undefined;
const choose = (...candidates: ReturnType<typeof candidate>[]) =>
  chooseBatch(candidates, findNoScope).map((one) => candidates.indexOf(one));

const puttingMany = (length: number) => Array.from({ length }, (_, at) => putting(`k${at}`));

describe("a batch", () => {
  test("takes all that fit together", () => {
    expect(choose(putting("a"), putting("b"))).toEqual([0, 1]);
    expect(choose()).toEqual([]);
  });

  test("leaves out who conflicts with a member", () => {
    expect(choose(putting("a"), putting("a", "b"), putting("b"), putting("c"))).toEqual([0, 2, 3]);
  });

  test("has a limit of members", () => {
    expect(choose(...puttingMany(200))).toEqual(Array.from({ length: MOST_MEMBERS }, (_, at) => at));
  });

  test("has a limit of operations, counted as etcd counts them", () => {
    const guards = Array.from({ length: 100 }, (_, at) => guard(`g${at}`));
    const large = candidate(txn([], guards));
    const small = puttingMany(60);
    expect(choose(large, ...small)).toHaveLength(28); // 28 members, and 100 guards of one of them
    const nested: Op = { op: "txn", txn: txn([put("n")], [guard("1"), guard("2")]) };
    expect(countOperations(txn([nested, put("a")], [guard("x")]))).toBe(4);
    expect(() =>
      new MemoryEtcd({ now: () => 0 }).apply(buildBatchTxn([large, ...small.slice(0, 27)])),
    ).not.toThrow();
  });

  test("has a limit of bytes, and takes one that is larger by itself", () => {
    const large = (key: string, size = 200_000) => candidate(txn([put(key, "x".repeat(size))]));
    expect(choose(large("a"), large("b"), putting("c"))).toEqual([0, 2]);
    expect(choose(large("a", 900_000), large("b"))).toEqual([0]);
    expect(computeRequestSize(txn([{ op: "txn", txn: txn([put("abc", "12345")], [guard("g")]) }]))).toBe(129);
  });

  test("is one alone that must be alone", () => {
    const alone = candidate(txn([put("b")]), true);
    expect(choose(alone, putting("a"))).toEqual([0]);
    expect(choose(putting("a"), alone, putting("b"), putting("c"))).toEqual([0, 2, 3]);
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
          const candidates = txns.map((one) => candidate(one));
          const chosen = chooseBatch(candidates, findNoScope);
          if (chosen.length < 2) return;
          const [together, oneByOne] = [createEtcd(there), createEtcd(there)];
          const answers = splitResponse(together.apply(buildBatchTxn(chosen)));
          const expected = chosen.map(({ txn: one }) => describeResult(oneByOne.apply(one)));
          expect(answers.map(describeResult)).toEqual(expected);
          expect(listAll(together)).toEqual(listAll(oneByOne));
        },
      ),
    );
  });
});

function createEtcd(keys: readonly string[]) {
  const etcd = new MemoryEtcd({ now: () => 0 });
  for (const key of keys) etcd.apply(txn([put(key, "old")]));
  return etcd;
}

/** Keys and values, without revisions, which differ. */
const toTexts = (kvs: readonly KeyValue[]) => kvs.map(({ key, value }) => [key, value]);
const listAll = (etcd: MemoryEtcd) => toTexts(etcd.range({ key: "\0", rangeEnd: "\0" }).kvs);

function describeResult({ succeeded, results }: TxnResult) {
  return [succeeded, results.map((result) => (result.op === "range" ? toTexts(result.kvs) : result))];
}
