import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { put } from "../../../fixtures/protocol/claim-fixture.ts";
import { bytes } from "../../../fixtures/protocol/samples.ts";
import { MemoryEtcd } from "../../../src/core/etcd/memory/memory-store.ts";
import {
  buildPrefixRange,
  computePrefixEnd,
  findFirstKey,
  type KeyValue,
  type OpResult,
} from "../../../src/core/protocol/txn.ts";

describe("the range of a prefix", () => {
  test.each([
    ["/signalbox/", "/signalbox0"],
    ["a", "b"],
    ["a\xfe", "a\xff"],
    ["\x00", "\x01"],
    ["a/b", "a/c"],
  ])("%j ends before %j", (prefix, end) => {
    expect(computePrefixEnd(prefix)).toBe(end);
    expect(buildPrefixRange(prefix)).toEqual({ key: prefix, rangeEnd: end });
  });

  test("contains a key if and only if the key begins with the prefix", () => {
    const prefix = bytes.filter((text) => text !== "" && !text.endsWith("\xff"));
    fc.assert(
      fc.property(prefix, bytes, bytes, (begin, rest, other) => {
        const etcd = new MemoryEtcd({ now: () => 0 });
        for (const key of new Set([begin + rest, other].filter((text) => text !== ""))) put(etcd, key, "");
        const found = etcd.range(buildPrefixRange(begin)).kvs.map(({ key }) => key);
        const expected = [...new Set([begin + rest, other])].filter((key) => key.startsWith(begin)).sort();
        expect([...found].sort()).toEqual(expected);
      }),
    );
  });
});

describe("the first key of a result", () => {
  const kv: KeyValue = { key: "a", value: "1", createRevision: 1n, modRevision: 1n, session: 0n };
  const range = { op: "range", count: 2, more: false } as const;
  test.each<[string, OpResult | undefined, KeyValue | undefined]>([
    ["a range with keys", { ...range, kvs: [kv, { ...kv, key: "b" }] }, kv],
    ["an empty range", { ...range, kvs: [] }, undefined],
    ["a put", { op: "put" }, undefined],
    ["a delete", { op: "delete", deleted: 1 }, undefined],
    ["a nested transaction", { op: "txn", succeeded: true, results: [{ ...range, kvs: [kv] }] }, undefined],
    ["no result", undefined, undefined],
  ])("%s", (_, result, expected) => {
    expect(findFirstKey(result)).toEqual(expected);
  });
});
