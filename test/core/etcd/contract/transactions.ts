import { expect, it } from "vitest";
import {
  catchErrorKind,
  compareAbsent,
  createId,
  createPrefix,
  put,
  type Subject,
  write,
} from "../../../../fixtures/etcd/store-calls.ts";
import { buildPrefixRange, type Compare, type Op } from "../../../../src/core/protocol/txn.ts";

const nest = (success: Op[], compare: Compare[] = [], failure: Op[] = []): Op => ({
  op: "txn",
  txn: { compare, success, failure },
});

/** Transactions: atomic, nested, refused. */
export function testTransactions(on: Subject): void {
  it("gives all puts of a transaction one revision, and keeps create_revision on later puts", async () => {
    const at = createPrefix();
    const first = await write(on.store, put(`${at}a`, "1"), put(`${at}b`, "1"));
    const second = await write(on.store, put(`${at}a`, "2"));
    expect(second.revision).toBe(first.revision + 1n);
    const both = { createRevision: first.revision, session: 0n };
    expect((await on.store.readRange(buildPrefixRange(at))).kvs).toEqual([
      { ...both, key: `${at}a`, value: "2", modRevision: second.revision, version: 2n },
      { ...both, key: `${at}b`, value: "1", modRevision: first.revision, version: 1n },
    ]);
  });

  it("takes the failure branch and reads there when a comparison fails; nothing is written", async () => {
    const key = createPrefix();
    const { revision } = await write(on.store, put(key, "1"));
    const failure: Op[] = [{ op: "range", key }];
    const answer = await on.store.commitTxn({
      compare: [compareAbsent(key)],
      success: [put(key, "2")],
      failure,
    });
    expect(answer).toMatchObject({ succeeded: false, revision });
    expect(answer.results).toMatchObject([{ op: "range", count: 1, kvs: [{ key, value: "1" }] }]);
  });

  it("answers each operation in its place, also in nested transactions", async () => {
    const at = createPrefix();
    await write(on.store, put(`${at}old`, "x"));
    const failure: Op[] = [{ op: "range", key: `${at}new` }, put(`${at}deep`, "d")];
    const nested = nest([], [compareAbsent(`${at}old`)], failure);
    const answer = await write(on.store, put(`${at}new`, "n"), { op: "delete", key: `${at}old` }, nested);
    expect(answer.succeeded).toBe(true);
    expect(answer.results).toMatchObject([
      { op: "put" },
      { op: "delete", deleted: 1 },
      { op: "txn", succeeded: false, results: [{ op: "range", kvs: [{ value: "n" }] }, { op: "put" }] },
    ]);
  });

  it("settles nested comparisons before anything is written", async () => {
    const at = createPrefix();
    const nested = nest([put(`${at}b`)], [compareAbsent(`${at}a`)]);
    const answer = await write(on.store, put(`${at}a`), nested);
    expect(answer.results[1]).toMatchObject({ op: "txn", succeeded: true });
  });

  it("deletes a range, says how many, and makes no revision when there was none", async () => {
    const at = createPrefix();
    const { revision } = await write(on.store, put(`${at}a`), put(`${at}b`));
    const remove: Op = { op: "delete", ...buildPrefixRange(at) };
    expect((await write(on.store, remove)).results).toEqual([{ op: "delete", deleted: 2 }]);
    const again = await write(on.store, remove);
    expect(again).toMatchObject({ results: [{ op: "delete", deleted: 0 }], revision: revision + 1n });
  });

  it("refuses a key put twice, or put and deleted, in one transaction", async () => {
    const at = createPrefix();
    const all: Op = { op: "delete", ...buildPrefixRange(at) };
    for (const other of [put(at, "2"), all, nest([put(at)])])
      expect(await catchErrorKind(write(on.store, put(at, "1"), other))).toBe("invalid");
    expect((await on.store.readRange({ key: at })).count).toBe(0);
  });

  it("lets a put follow a delete of all keys from one on, which etcd does not notice", async () => {
    const key = "\xff\xffput and deleted";
    await write(on.store, put(key, "1"));
    const { revision } = await write(on.store, { op: "delete", key, rangeEnd: "\0" }, put(key, "2"));
    expect((await on.store.readRange({ key })).kvs).toMatchObject([{ value: "2", createRevision: revision }]);
    await write(on.store, { op: "delete", key });
  });

  it("lets the two branches of a nested transaction put the same key", async () => {
    const at = createPrefix();
    await write(on.store, nest([put(at, "y")], [], [put(at, "n")]));
    expect((await on.store.readRange({ key: at })).kvs[0]?.value).toBe("y");
  });

  it("refuses more than 128 operations, and a key that is empty", async () => {
    const at = createPrefix();
    const many = Array.from({ length: 129 }, (_, i) => put(`${at}${i}`));
    expect(await catchErrorKind(write(on.store, ...many))).toBe("unusable");
    expect((await write(on.store, ...many.slice(0, 128))).results).toHaveLength(128);
    expect(await catchErrorKind(write(on.store, put("")))).toBe("invalid");
  });

  it("writes nothing when one put names a session that is gone", async () => {
    const at = createPrefix();
    expect(await catchErrorKind(write(on.store, put(`${at}a`), put(`${at}b`, "", createId())))).toBe(
      "noSession",
    );
    expect((await on.store.readRange(buildPrefixRange(at))).count).toBe(0);
  });
}
