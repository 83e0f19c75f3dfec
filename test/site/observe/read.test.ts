import { afterAll, beforeAll, expect, test } from "vitest";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { delegateStore } from "../../../src/core/etcd/store.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";
import { readAll, readPages } from "../../../src/site/observe/read.ts";
import { Observer } from "./observers.ts";

const COUNT = 12_000;

let etcd: EtcdMember;
beforeAll(async () => {
  etcd = await startEtcd();
});
afterAll(() => etcd?.stop());

/** An observer of 12,000 groups, and the reads that etcd was asked for. */
async function createReader(context: Parameters<typeof Observer.connect>[0]) {
  const { ports } = await Observer.connect(context, [etcd.clientUrl]);
  const names = Array.from({ length: COUNT }, (_, n) => `g${String(n).padStart(5, "0")}`);
  for (let at = 0; at < COUNT; at += 100) {
    const success = names
      .slice(at, at + 100)
      .map((name): Op => ({ op: "put", key: ports.keys.group(name), value: `["${"x".repeat(200)}"]` }));
    await ports.store.commitTxn({ compare: [], success, failure: [] });
  }
  const asked: { key: string; signal: AbortSignal | undefined }[] = [];
  const store = delegateStore(ports.store, {
    readRange: (range, signal) => {
      asked.push({ key: range.key, signal });
      return ports.store.readRange(range, signal);
    },
  });
  return { ports: { ...ports, store }, asked, expected: names.map((name) => ports.keys.group(name)) };
}

test("all keys come once, in order, as they were at the start, while others are written", async (context) => {
  const { ports, asked, expected } = await createReader(context);
  const found: string[] = [];
  for await (const { kvs } of readPages(ports, ports.keys.groups())) {
    found.push(...kvs.map(({ key }) => key));
    const put = { op: "put" as const, key: ports.keys.group(`z${found.length}`), value: "[]" };
    await ports.store.commitTxn({ compare: [], success: [put], failure: [] });
  }
  expect(found).toEqual(expected);
  expect(asked.length).toBeGreaterThan(2); // the third page is asked for early
  expect((await readAll(ports, ports.keys.groups())).length).toBeGreaterThan(COUNT);
});

test("a caller that stops leaves no read behind, and one that needs a page costs one read", async (context) => {
  const { ports, asked } = await createReader(context);
  for await (const _ of readPages(ports, ports.keys.groups())) break;
  expect(asked).toHaveLength(1);
  let pages = 0;
  for await (const _ of readPages(ports, ports.keys.groups())) {
    pages += 1;
    if (pages === 2) break;
  }
  expect(asked).toHaveLength(4); // the first one, two pages, and the third, which was on its way
  expect(asked.every(({ signal }) => signal?.aborted)).toBe(true);
});

test("the reason of the caller's signal ends it", async (context) => {
  const { ports } = await createReader(context);
  const stop = new AbortController();
  const read = async () => {
    for await (const _ of readPages(ports, ports.keys.groups(), { signal: stop.signal }))
      stop.abort(new Error("enough"));
  };
  await expect(read()).rejects.toThrow("enough");
});
