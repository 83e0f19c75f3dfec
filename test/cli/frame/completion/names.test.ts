/** Completion of names from etcd. */
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../../fixtures/manual-clock.ts";
import { keys } from "../../../../fixtures/protocol/samples.ts";
import type { NameKind } from "../../../../src/cli/frame/command.ts";
import { readCompletionNames } from "../../../../src/cli/frame/completion/complete.ts";
import { MemoryStore } from "../../../../src/core/etcd/memory/memory-store.ts";
import type { RangeOp } from "../../../../src/core/protocol/txn.ts";

const signal = new AbortController().signal;
const run = (number: number) => number.toString(36).padStart(16, "0");

async function storeWith(all: readonly string[]) {
  const store = MemoryStore.create(new ManualClock());
  for (let from = 0; from < all.length; from += 100) {
    const puts = all.slice(from, from + 100).map((key) => ({ op: "put" as const, key, value: "" }));
    await store.commitTxn({ compare: [], success: puts, failure: [] });
  }
  return store;
}

const ask = async (store: MemoryStore, kind: NameKind, prefix: string, more = {}) =>
  await readCompletionNames(store, keys, { kinds: [kind], prefix, ...more }, signal);

function inCommon(names: readonly string[]) {
  const [first = "", ...others] = names;
  let length = first.length;
  while (!others.every((name) => name.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}

const NAMED = [
  ...["in voices", "invoices", "other", "in/out", "größe"].map((name) => keys.lock(name, run(1))),
  keys.history("inner"),
  keys.resourceConfig("db"),
  keys.resource("db", run(2)),
  keys.group("web"),
  keys.calendar("in summer"),
  keys.drain("host", "web1"),
  keys.drain("lock", "invoices"),
  keys.drain("all", "all"),
  keys.schedule("in time"),
  keys.due("in time"),
  keys.schedule("backup"),
  keys.running("in work"),
];

describe("names", () => {
  it.each<[kind: NameKind, prefix: string, names: string[]]>([
    ["schedule", "in", ["in time"]],
    ["calendar", "in", ["in summer"]],
    ["lock", "in", ["in voices", "in/out", "inner", "invoices"]],
    ["lock", "in v", ["in voices"]],
    ["lock", "in/", ["in/out"]],
    ["lock", "grö", ["größe"]],
    ["resource", "", ["db"]],
    ["group", "x", []],
  ])(
    "of the kind %s that begin with %j, also where they are encoded, are %j",
    async (kind, prefix, names) => {
      expect(await ask(await storeWith(NAMED), kind, prefix)).toEqual(names);
    },
  );

  it("may be those of several kinds, or of one scope", async () => {
    const store = await storeWith(NAMED);
    expect(await ask(store, "drain", "", { scope: "host" })).toEqual(["web1"]);
    expect(await ask(store, "resource", "", { kinds: ["resource", "group"] })).toEqual(["db", "web"]);
  });

  it("that a terminal would act on, or not show, are left out; keys that are none of ours too", async () => {
    const store = await storeWith([
      ...["in\u202evisible", "zero\u200bwidth", "fine"].map((name) => keys.lock(name, run(1))),
      ...["%1B%5D0;x", "new%0Aline", "%00", "%7F", "%C2%9B2J", "raw\x1b[2J", "broken%FF"].map(
        (segment) => `${keys.locks().key}${segment}/${run(1)}`,
      ),
      ...["alone", "a/b/c"].map((rest) => `${keys.locks().key}${rest}`),
    ]);
    expect(await ask(store, "lock", "")).toEqual(["fine"]);
  });
});

describe("of very many names", () => {
  const many = Array.from({ length: 6_000 }, (_, i) => keys.group(`node-${String(i).padStart(5, "0")}`));
  const numbered = many.map((_, i) => keys.lock("crowded", run(i)));

  it("some are offered, that have no more in common than all", async () => {
    const store = await storeWith([...many, keys.group("nobody"), keys.group("zoo")]);
    const found = await ask(store, "group", "");
    expect(found.length).toBeLessThan(5_000);
    expect(found).toEqual(expect.arrayContaining(["node-00000", "zoo"]));
    // What they have in common is typed by the shell, as if there were no others.
    for (const prefix of ["", "n", "no", "node", "node-", "node-0"]) {
      const all = ["nobody", "zoo", "node-00000", "node-05999"].filter((name) => name.startsWith(prefix));
      expect(inCommon(await ask(store, "group", prefix)), prefix).toBe(inCommon(all));
    }
    expect(await ask(store, "group", "node-0599")).toHaveLength(10);
  });

  it("little is read, and of a long queue only its head", async () => {
    const store = await storeWith([...numbered, keys.lock("lonely", run(1)), keys.lock("crowd", run(1))]);
    const reads: RangeOp[] = [];
    const spy = {
      readRange: (range: RangeOp) => {
        reads.push(range);
        return store.readRange(range);
      },
    };
    expect(await readCompletionNames(spy, keys, { kinds: ["lock"], prefix: "" }, signal)).toEqual([
      "crowd",
      "crowded",
      "lonely",
    ]);
    expect(reads.length).toBeLessThan(5);
    for (const range of reads) expect(range).toMatchObject({ keysOnly: true, limit: expect.any(Number) });
  });

  it("runs are not offered in part: the only one of some may be the wrong one", async () => {
    const store = await storeWith([...numbered, keys.lock("lonely", run(1))]);
    expect(await ask(store, "run", "0000")).toEqual([]);
    expect(await ask(store, "run", "", { queue: { kind: "lock", name: "crowded" } })).toEqual([]);
    expect(await ask(store, "run", "0000", { queue: { kind: "lock", name: "lonely" } })).toEqual([run(1)]);
    expect(await ask(store, "run", "1", { queue: { kind: "lock", name: "lonely" } })).toEqual([]);
  });
});
