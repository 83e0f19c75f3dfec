import { expect, it } from "vitest";
import {
  catchErrorKind,
  createPrefix,
  followWatch,
  formatEvent,
  getRevision,
  put,
  type Subject,
  write,
} from "../../../../fixtures/etcd/store-calls.ts";
import type { Store } from "../../../../src/core/etcd/store.ts";
import { buildPrefixRange, type WatchEvent } from "../../../../src/core/protocol/txn.ts";

/** Watches: from the past, in order, none missing. */
export function testWatches(on: Subject): void {
  it("replays the past from the revision asked for, then goes on", async () => {
    const at = createPrefix();
    await write(on.store, put(`${at}before`));
    const { revision } = await write(on.store, put(`${at}a`, "1"));
    await write(on.store, { op: "delete", key: `${at}a` });
    const all = followWatch(
      on.store,
      { ranges: [buildPrefixRange(at)], from: revision },
      (seen) => seen.length === 3,
    );
    await write(on.store, put(`${at}b`, "2"));
    const batches = await all;
    const events = batches.flatMap((batch) => batch.events);
    expect(events.map(formatEvent)).toEqual([`put ${at}a`, `delete ${at}a`, `put ${at}b`]);
    expect(events.map(getRevision)).toEqual([revision, revision + 1n, revision + 2n]);
    expect(batches.at(-1)?.revision).toBe(revision + 2n);
    expect(events[2]).toMatchObject({ kv: { value: "2", createRevision: revision + 2n } });
  });

  it("watches a single key, and only puts or only deletes", async () => {
    const at = createPrefix();
    const { revision } = await write(on.store, put(`${at}k`), put(`${at}k2`));
    await write(on.store, { op: "delete", ...buildPrefixRange(at) });
    await write(on.store, put(`${at}k`));
    const see = async (only?: "puts" | "deletes") => {
      const range = { key: `${at}k`, ...(only && { only }) };
      const hasEnough = (seen: WatchEvent[]) =>
        seen.length === { puts: 2, deletes: 1, all: 3 }[only ?? "all"];
      const batches = await followWatch(on.store, { ranges: [range], from: revision }, hasEnough);
      return batches.flatMap(({ events }) => events.map(formatEvent));
    };
    expect(await see()).toEqual([`put ${at}k`, `delete ${at}k`, `put ${at}k`]);
    expect(await see("puts")).toEqual([`put ${at}k`, `put ${at}k`]);
    expect(await see("deletes")).toEqual([`delete ${at}k`]);
  });

  it("keeps the events of one revision together, in the order of the transaction", async () => {
    const at = createPrefix();
    const { revision } = await write(on.store, put(`${at}a`));
    await write(on.store, put(`${at}c`), { op: "delete", key: `${at}a` }, put(`${at}b`));
    const batches = await followWatch(
      on.store,
      { ranges: [buildPrefixRange(at)], from: revision + 1n },
      () => true,
    );
    expect(batches[0]?.events.map(formatEvent)).toEqual([`put ${at}c`, `delete ${at}a`, `put ${at}b`]);
  });

  it("misses none of 2,000 quick puts, in order", async () => {
    const at = createPrefix();
    const { revision } = await write(on.store, put(`${at}start`));
    const all = followWatch(
      on.store,
      { ranges: [buildPrefixRange(at)], from: revision + 1n },
      (seen) => seen.length === 2000,
    );
    const written = await putMany(on.store, (writer, i) => `${at}${writer}/${i}`);
    const events = (await all).flatMap((batch) => batch.events);
    expect(events.map(getRevision)).toEqual(written);
    expect(new Set(events.map(formatEvent)).size).toBe(2000);
  });

  it("replays 2,000 revisions of the past without a gap", async () => {
    const at = createPrefix();
    const { revision } = await write(on.store, put(`${at}start`));
    const written = await putMany(on.store, (writer) => `${at}${writer}`);
    const request = { ranges: [buildPrefixRange(at)], from: revision + 1n };
    const batches = await followWatch(on.store, request, (seen) => seen.length === 2000);
    expect(batches.flatMap(({ events }) => events.map(getRevision))).toEqual(written);
  });

  it("watches fifty ranges with long names at once", async () => {
    const at = createPrefix();
    const names = Array.from({ length: 50 }, (_, i) => `${at}${"long".repeat(60)}${i}/`);
    const { revision } = await write(on.store, put(`${at}start`));
    const request = { ranges: names.map(buildPrefixRange), from: revision + 1n };
    const all = followWatch(on.store, request, (seen) => seen.length === 50);
    for (const each of names) await write(on.store, put(`${each}k`));
    const keys = (await all).flatMap(({ events }) => events.map(formatEvent));
    expect(new Set(keys)).toEqual(new Set(names.map((each) => `put ${each}k`)));
  });

  it("waits for a revision of the future", async () => {
    const key = createPrefix();
    const { revision } = await write(on.store, put(key));
    const later = followWatch(on.store, { ranges: [{ key }], from: revision + 3n }, () => true);
    for (let i = 0; i < 3; i += 1) await write(on.store, put(key));
    expect((await later)[0]?.revision).toBe(revision + 3n);
  });

  it("refuses a revision that has been compacted, to a watch and to a read", async () => {
    const key = createPrefix();
    const { revision: first } = await write(on.store, put(key));
    for (let i = 0; i < 3; i += 1) await write(on.store, put(key));
    await on.compact(first + 2n);
    expect(await catchErrorKind(followWatch(on.store, { ranges: [{ key }], from: first }, () => true))).toBe(
      "compacted",
    );
    expect(await catchErrorKind(on.store.readRange({ key, revision: first }))).toBe("compacted");
    expect((await on.store.readRange({ key, revision: first + 2n })).count).toBe(1);
  });
}

/** Puts 2,000 keys, twenty at a time. @returns the revisions in order */
async function putMany(store: Store, nameKey: (writer: number, i: number) => string) {
  const writers = Array.from({ length: 20 }, async (_, writer) => {
    const written: bigint[] = [];
    for (let i = 0; i < 100; i += 1)
      written.push((await write(store, put(nameKey(writer, i), String(i)))).revision);
    return written;
  });
  return (await Promise.all(writers)).flat().sort((a, b) => Number(a - b));
}
