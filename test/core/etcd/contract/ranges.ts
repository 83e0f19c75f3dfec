import { expect, it } from "vitest";
import {
  catchErrorKind,
  createPrefix,
  MAX_INT64,
  put,
  type Subject,
  write,
} from "../../../../fixtures/etcd/store-calls.ts";
import { buildPrefixRange } from "../../../../src/core/protocol/txn.ts";

/** Reads: pages, order, filters, limits. */
export function testRanges(on: Subject): void {
  it("reads page by page at one revision during writes", async () => {
    const at = createPrefix();
    const keys = Array.from({ length: 25 }, (_, i) => `${at}${String(i).padStart(2, "0")}`);
    const { revision } = await write(on.store, ...keys.map((key) => put(key, "then")));
    const seen: string[] = [];
    let from = at;
    for (let more = true; more; ) {
      const page = await on.store.readRange({ ...buildPrefixRange(at), key: from, limit: 10, revision });
      expect(page.revision).toBe(revision);
      expect(page.kvs.every(({ value }) => value === "then")).toBe(true);
      seen.push(...page.kvs.map(({ key }) => key));
      from = `${page.kvs.at(-1)?.key}\0`;
      more = page.more;
      await write(on.store, { op: "delete", ...buildPrefixRange(at) });
      await write(on.store, put(`${at}${seen.length}x`, "now"));
    }
    expect(seen).toEqual(keys);
  });

  it("counts the whole range, independent of the limit", async () => {
    const at = createPrefix();
    await write(on.store, put(`${at}a`, "1"), put(`${at}b`, "2"), put(`${at}c`, "3"));
    const { kvs, count, more } = await on.store.readRange({
      ...buildPrefixRange(at),
      limit: 2,
      keysOnly: true,
    });
    expect({ values: kvs.map(({ value }) => value), count, more }).toEqual({
      values: ["", ""],
      count: 3,
      more: true,
    });
    expect(await on.store.readRange({ ...buildPrefixRange(at), countOnly: true })).toMatchObject({
      kvs: [],
      count: 3,
    });
    expect(await on.store.readRange({ ...buildPrefixRange(at), limit: 3 })).toMatchObject({
      count: 3,
      more: false,
    });
  });

  it("sorts and filters by revisions", async () => {
    const at = createPrefix();
    const created: bigint[] = [];
    for (const key of ["c", "a", "b"]) created.push((await write(on.store, put(at + key))).revision);
    await write(on.store, put(`${at}c`));
    const order = async (by: "key" | "create" | "mod", order: "ascend" | "descend", limit = 0) => {
      const { kvs } = await on.store.readRange({ ...buildPrefixRange(at), sort: { by, order }, limit });
      return kvs.map(({ key }) => key.at(-1)).join("");
    };
    expect(await order("create", "ascend")).toBe("cab");
    expect(await order("mod", "ascend")).toBe("abc");
    expect(await order("key", "descend")).toBe("cba");
    expect(await order("create", "descend", 1)).toBe("b");
    const [first = 0n, second = 0n] = created;
    const upTo = await on.store.readRange({ ...buildPrefixRange(at), maxCreateRevision: second });
    expect(upTo.kvs.map(({ key }) => key.at(-1)).join("")).toBe("ac");
    const after = await on.store.readRange({ ...buildPrefixRange(at), minCreateRevision: first + 1n });
    expect(after.kvs.map(({ key }) => key.at(-1)).join("")).toBe("ab");
  });

  it("reads from a key to the end, and nothing from a range upside down", async () => {
    await write(on.store, put("\xff\xff/contract last"));
    expect((await on.store.readRange({ key: "\xff", rangeEnd: "\0" })).kvs.at(-1)?.key).toBe(
      "\xff\xff/contract last",
    );
    expect(await on.store.readRange({ key: "b", rangeEnd: "a" })).toMatchObject({
      kvs: [],
      count: 0,
      more: false,
    });
  });

  it("refuses a revision of the future, and an empty key", async () => {
    expect(await catchErrorKind(on.store.readRange({ key: "a", revision: MAX_INT64 }))).toBe("invalid");
    expect(await catchErrorKind(on.store.readRange({ key: "", rangeEnd: "b" }))).toBe("invalid");
  });

  it("reads 6 MiB at once", async () => {
    const at = createPrefix();
    const value = "0123456789abcdef".repeat(65_536);
    for (let i = 0; i < 6; i += 1) await write(on.store, put(at + i, value));
    const { kvs } = await on.store.readRange(buildPrefixRange(at));
    expect(kvs.map((kv) => kv.value === value)).toEqual(Array(6).fill(true));
    await write(on.store, { op: "delete", ...buildPrefixRange(at) });
  });
}
