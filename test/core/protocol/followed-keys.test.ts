import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FollowedKeys } from "../../../src/core/protocol/followed-keys.ts";
import { buildPrefixRange, type KeyValue, type WatchEvent } from "../../../src/core/protocol/txn.ts";

/** Keeps the values by key, and the calls in order. */
class Values extends FollowedKeys {
  readonly ranges = [buildPrefixRange("p/")];
  readonly values = new Map<string, string>();
  readonly calls: string[] = [];

  protected override storeKey({ key, value }: KeyValue) {
    this.values.set(key, value);
    this.calls.push(`${key}=${value}${this.isReading ? " read" : ""}`);
  }

  protected override removeKey(key: string) {
    this.values.delete(key);
    this.calls.push(`-${key}`);
  }
}

const kv = (key: string, modRevision: bigint, value = `${modRevision}`): KeyValue => ({
  key,
  value,
  modRevision,
  createRevision: modRevision,
  session: 0n,
});
const put = (key: string, revision: bigint): WatchEvent => ({ type: "put", kv: kv(key, revision) });
const del = (key: string, revision: bigint): WatchEvent => ({ type: "delete", key, revision });

function readInto(values: Values, revision: bigint, kvs: readonly KeyValue[]) {
  values.begin();
  for (const each of kvs) values.add(each);
  values.finish(revision);
}

describe("keys that are followed", () => {
  test.each<{ name: string; act: (values: Values) => void; calls: string[] }>([
    {
      name: "a second read stores only what is new, and removes what is gone",
      act: (values) => readInto(values, 9n, [kv("p/a", 2n), kv("p/b", 8n)]),
      calls: ["p/b=8 read", "-p/c"],
    },
    {
      name: "a read after a restore takes a key with a lower revision",
      act: (values) => readInto(values, 1n, [kv("p/a", 1n), kv("p/c", 3n)]),
      calls: ["p/a=1 read"],
    },
    {
      name: "a repeated event has no effect",
      act: (values) => values.apply({ revision: 5n, events: [put("p/a", 2n), put("p/c", 3n)] }),
      calls: [],
    },
    {
      name: "an event outside the ranges has no effect",
      act: (values) => values.apply({ revision: 6n, events: [put("q/a", 6n), del("o/b", 6n)] }),
      calls: [],
    },
    {
      name: "a key that is deleted and created again in one batch remains",
      act: (values) => values.apply({ revision: 7n, events: [del("p/a", 6n), put("p/a", 7n)] }),
      calls: ["-p/a", "p/a=7"],
    },
    {
      name: "an own write is applied once, and an older delete of its key does not remove it",
      act: (values) => {
        values.applyPut(kv("p/a", 8n));
        values.apply({ revision: 8n, events: [del("p/a", 7n), put("p/a", 8n)] });
      },
      calls: ["p/a=8"],
    },
    {
      name: "an own delete removes the revision that it knows, and no later one",
      act: (values) => {
        values.applyDelete("p/a", 1n);
        values.applyDelete("p/c", 3n);
        values.applyDelete("p/c", 3n);
      },
      calls: ["-p/c"],
    },
    {
      name: "an own write during a read is neither replaced nor removed by the older read",
      act: (values) => {
        values.begin();
        values.applyPut(kv("p/a", 8n));
        values.applyPut(kv("p/new", 8n));
        values.add(kv("p/a", 2n));
        values.add(kv("p/c", 3n));
        values.finish(7n);
      },
      calls: ["p/a=8 read", "p/new=8 read"],
    },
  ])("$name", ({ act, calls }) => {
    const values = new Values();
    readInto(values, 5n, [kv("p/a", 2n), kv("p/c", 3n)]);
    values.calls.length = 0;
    act(values);
    expect(values.calls).toEqual(calls);
  });

  test("give the revision of the last read or batch", () => {
    const values = new Values();
    readInto(values, 5n, []);
    expect(values.revision).toBe(5n);
    values.apply({ revision: 6n, events: [] });
    expect(values.revision).toBe(6n);
  });

  test("are equal to etcd if read and watch deliver a change twice", () => {
    const write = fc.record({ key: fc.constantFrom("p/a", "p/b", "p/c", "q/x"), deletes: fc.boolean() });
    const script = fc.record({
      writes: fc.array(write, { maxLength: 30 }),
      readAt: fc.nat(30),
      repeat: fc.nat(5),
    });
    fc.assert(
      fc.property(script, ({ writes, readAt, repeat }) => {
        const events = writes.map(({ key, deletes }, index): WatchEvent => {
          const revision = BigInt(index + 1);
          return deletes ? del(key, revision) : put(key, revision);
        });
        const at = Math.min(readAt, events.length);
        const values = new Values();
        readInto(values, BigInt(at), [...replay(events.slice(0, at)).values()]);
        for (const event of events.slice(Math.max(0, at - repeat)))
          values.apply({ revision: 1n, events: [event] });
        if (repeat > 0 && at > repeat) readInto(values, BigInt(events.length), [...replay(events).values()]);
        const expected = new Map([...replay(events)].map(([key, { value }]) => [key, value]));
        expect(values.values).toEqual(expected);
      }),
    );
  });
});

/** The keys below `p/` after all events. */
function replay(events: readonly WatchEvent[]) {
  const keys = new Map<string, KeyValue>();
  for (const event of events) {
    if (event.type === "delete") keys.delete(event.key);
    else if (event.kv.key.startsWith("p/")) keys.set(event.kv.key, event.kv);
  }
  return keys;
}
