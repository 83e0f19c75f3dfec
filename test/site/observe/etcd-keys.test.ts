import { expect, test } from "vitest";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";
import { readKeyPage } from "../../../src/site/observe/etcd-keys.ts";

const { signal } = new AbortController();

function createPorts() {
  const clock = createRealClock();
  const store = MemoryStore.create(clock);
  return { store, clock, random: realRandom, keys: createKeys("/s/"), settings: { connectTimeout: 1_000 } };
}

const put = (key: string, value = ""): Op => ({ op: "put", key, value });
const query = { prefix: "", after: undefined, revision: undefined, limit: 100 };

test("any prefix is possible: an empty one, and one that ends in the highest bytes", async () => {
  const ports = createPorts();
  const all = ["\x01", "a", "a\xff", "a\xff\xffz", "b", "\xff"];
  await ports.store.commitTxn({ compare: [], success: all.map((key) => put(key)), failure: [] });
  const read = async (prefix: string) =>
    (await readKeyPage(ports, { ...query, prefix }, signal)).keys.map(({ key }) => key);
  expect(await read("")).toEqual(all);
  expect(await read("a")).toEqual(["a", "a\xff", "a\xff\xffz"]);
  expect(await read("a\xff")).toEqual(["a\xff", "a\xff\xffz"]);
  expect(await read("\xff")).toEqual(["\xff"]);
  expect(await read("c")).toEqual([]);
});

test("pages follow each other without gap or repetition, and large values are read in small requests", async () => {
  const ports = createPorts();
  const names = Array.from({ length: 230 }, (_, at) => `k${String(at).padStart(3, "0")}`);
  for (const name of names)
    await ports.store.commitTxn({ compare: [], success: [put(name, "x".repeat(50_000))], failure: [] });
  const asked: (number | undefined)[] = [];
  const readRange = ports.store.readRange.bind(ports.store);
  ports.store.readRange = async (range, either) => {
    asked.push(range.limit);
    return await readRange(range, either);
  };
  const seen: string[] = [];
  for (let after: string | undefined; ; after = seen.at(-1)) {
    const { keys, left } = await readKeyPage(ports, { ...query, after }, signal);
    seen.push(...keys.map(({ key }) => key));
    expect(left).toBe(names.length - seen.length);
    if (left === 0) break;
  }
  expect(seen).toEqual(names);
  expect(Math.max(...asked.map((limit) => limit ?? Number.POSITIVE_INFINITY))).toBe(50);
});

test("a page is of one revision, also while keys change", async () => {
  const ports = createPorts();
  for (let at = 0; at < 60; at += 1)
    await ports.store.commitTxn({ compare: [], success: [put(`k${at + 100}`)], failure: [] });
  const readRange = ports.store.readRange.bind(ports.store);
  ports.store.readRange = async (range, either) => {
    const answer = await readRange(range, either);
    await ports.store.commitTxn({ compare: [], success: [{ op: "delete", key: "k159" }], failure: [] });
    return answer;
  };
  const { keys, revision } = await readKeyPage(ports, query, signal);
  expect(keys).toHaveLength(60);
  expect(revision).toBe(61n);
});
