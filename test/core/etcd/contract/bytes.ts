import { expect, it } from "vitest";
import { createPrefix, put, type Subject, write } from "../../../../fixtures/etcd/store-calls.ts";
import { buildPrefixRange, type Compare } from "../../../../src/core/protocol/txn.ts";

const readValue = async (on: Subject, key: string, binaryValues = false) =>
  (await on.store.readRange({ key, binaryValues })).kvs[0]?.value;

/** Keys are bytes, values are text. */
export function testBytes(on: Subject): void {
  it.each([
    ["NUL", "a\0b\0"],
    ["every byte", String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i))],
    ["no UTF-8", "\xff\xfe\x80"],
  ])("carries a key with %s there and back", async (_what, key) => {
    const at = createPrefix() + key;
    await write(on.store, put(at, "v"));
    expect((await on.store.readRange({ key: at })).kvs[0]?.key).toBe(at);
  });

  it.each([
    ["nothing", ""],
    ["emoji and more", "grün 🚦 信号"],
    ["control characters", "\0\x01\u2028"],
    ["100 kB", "x".repeat(100_000)],
  ])("carries a value: %s", async (_what, value) => {
    const key = createPrefix();
    await write(on.store, put(key, value));
    expect(await readValue(on, key)).toBe(value);
    const compare: Compare = { key, target: "value", is: "equal", value };
    expect((await on.store.commitTxn({ compare: [compare], success: [], failure: [] })).succeeded).toBe(true);
  });

  it("shows foreign bytes in a value as U+FFFD", async () => {
    if (on.putBytes === undefined) return;
    const key = createPrefix();
    await on.putBytes(key, "a\xffb");
    expect(await readValue(on, key)).toBe("a\ufffdb");
    expect(await readValue(on, key, true)).toBe("a\xffb");
  });

  it("returns a text as bytes where these are wanted", async () => {
    const at = createPrefix();
    await write(on.store, put(`${at}a`, "\0\x01 \x7fü"), put(`${at}b`, "grün"));
    const { kvs } = await on.store.readRange({ ...buildPrefixRange(at), binaryValues: true });
    expect(kvs.map(({ value }) => value)).toEqual(["\0\x01 \x7f\xc3\xbc", "gr\xc3\xbcn"]);
    const all = String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte));
    if (on.putBytes === undefined) return;
    await on.putBytes(at, all);
    expect(await readValue(on, at, true)).toBe(all);
  });
}
