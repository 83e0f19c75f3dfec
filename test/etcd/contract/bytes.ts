import { expect, it } from "vitest";
import type { Compare } from "../../../src/etcd/store.ts";
import { place, put, type Subject, write } from "./helpers.ts";

/** Keys are bytes, values are text. */
export function testBytes(on: Subject): void {
  it.each([
    ["NUL", "a\0b\0"],
    ["every byte", String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i))],
    ["no UTF-8", "\xff\xfe\x80"],
  ])("carries a key with %s there and back", async (_what, key) => {
    const at = place() + key;
    await write(on.store, put(at, "v"));
    expect((await on.store.readRange({ key: at })).kvs[0]?.key).toBe(at);
  });

  it.each([
    ["nothing", ""],
    ["emoji and more", "grün 🚦 信号"],
    ["control characters", "\0\x01\u2028"],
    ["100 kB", "x".repeat(100_000)],
  ])("carries a value: %s", async (_what, value) => {
    const key = place();
    await write(on.store, put(key, value));
    expect((await on.store.readRange({ key })).kvs[0]?.value).toBe(value);
    const compare: Compare = { key, target: "value", is: "equal", value };
    expect((await on.store.commitTxn({ compare: [compare], success: [], failure: [] })).succeeded).toBe(true);
  });

  it("shows foreign bytes in a value as U+FFFD", async () => {
    if (!on.raw) return;
    const key = place();
    await on.raw.put(Buffer.from(key), Buffer.from([0x61, 0xff, 0x62]));
    expect((await on.store.readRange({ key })).kvs[0]?.value).toBe("a\ufffdb");
  });
}
