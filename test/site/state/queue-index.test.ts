import { array, assert, constantFrom, nat, property, record } from "fast-check";
import { expect, test } from "vitest";
import type { QueueKind } from "../../../src/core/protocol/keys.ts";
import { compareByClaim, type QueueEntry } from "../../../src/core/protocol/ticket.ts";
import { QueueIndex } from "../../../src/site/state/snapshot-builder.ts";

const createEntry = (key: string, createRevision: bigint, modRevision = createRevision): QueueEntry => ({
  key,
  run: key,
  ticket: undefined,
  createRevision,
  modRevision,
  session: 1n,
});
const x = { kind: "lock", name: "x" } as const;

test("queues are those of a plain map of keys, whatever is put and deleted, and however often they are read", () => {
  const change = record({
    does: constantFrom("put", "delete", "read"),
    kind: constantFrom<QueueKind>("lock", "resource"),
    name: constantFrom("x", "y"),
    key: nat(5),
  });
  assert(
    property(array(change), (changes) => {
      const index = new QueueIndex();
      const plain = new Map<string, { id: string; entry: QueueEntry }>();
      changes.forEach(({ does, kind, name, key: number }, at) => {
        const id = `${kind}/${name}`;
        const key = `${id}/${number}`;
        const created = plain.get(key)?.entry.createRevision ?? BigInt(at);
        const entry = createEntry(key, created, BigInt(at));
        if (does === "put") {
          index.put({ kind, name }, entry);
          plain.set(key, { id, entry });
        } else if (does === "delete") {
          index.delete({ kind, name }, key);
          plain.delete(key);
        } else index.getAll();
      });
      const expected = Map.groupBy(plain.values(), ({ id }) => id);
      const all = index.getAll();
      expect([...all.keys()].sort()).toEqual([...expected.keys()].sort());
      for (const [id, { kind, name, entries }] of all) {
        expect(`${kind}/${name}`).toBe(id);
        expect(entries).toEqual(
          expected
            .get(id)
            ?.map(({ entry }) => entry)
            .sort(compareByClaim),
        );
      }
    }),
  );
});

test("queues that were given out do not change, and those without changes stay the same", () => {
  const index = new QueueIndex();
  index.put(x, createEntry("a", 1n));
  index.put({ kind: "lock", name: "y" }, createEntry("b", 2n));
  const before = index.getAll();
  index.put(x, createEntry("c", 3n));
  const after = index.getAll();
  expect(before.get("lock/x")?.entries.map(({ key }) => key)).toEqual(["a"]);
  expect(after.get("lock/x")?.entries.map(({ key }) => key)).toEqual(["a", "c"]);
  expect(after.get("lock/y")).toBe(before.get("lock/y"));
  expect(index.getAll()).toBe(after);
});
