import { expect, test } from "vitest";
import { ManualClock } from "../../../../fixtures/manual-clock.ts";
import { keys } from "../../../../fixtures/protocol/samples.ts";
import { createPorts } from "../../../../fixtures/protocol/situations.ts";
import { createHostWriteGuard } from "../../../../fixtures/simulation/role.ts";
import { MemoryStore } from "../../../../src/core/etcd/memory/memory-store.ts";
import { StoreError } from "../../../../src/core/etcd/store.ts";
import type { Txn } from "../../../../src/core/protocol/txn.ts";
import { HostRecordWriter } from "../../../../src/core/run/acquire.ts";

const HOST = "web1.example.com";
const KEY = keys.host(HOST);
const LOCK = keys.lock("x", "0123456789abcdef");

/** A claim that is refused where its key is there; success reads. */
const CLAIM: Txn = {
  compare: [{ key: LOCK, target: "create", is: "equal", value: 0n }],
  success: [
    { op: "put", key: LOCK, value: "ticket" },
    { op: "range", key: keys.history("x") },
  ],
  failure: [],
};

class Role extends MemoryStore {
  readonly sent: Txn[] = [];
  check: (txn: Txn) => void = () => {};

  override async commitTxn(txn: Txn, signal?: AbortSignal) {
    this.sent.push(txn);
    this.check(txn);
    return await super.commitTxn(txn, signal);
  }
}

function createFixture(host = HOST) {
  const clock = new ManualClock();
  const store = new Role(MemoryStore.create(clock).etcd);
  const said = { text: "there" };
  const ports = { ...createPorts(clock, store), describeHost: () => said.text };
  const presence = new HostRecordWriter(ports, { identity: { host, pid: 1, user: "u", command: "job" } });
  const record = () => store.etcd.range({ key: KEY }).kvs[0];
  const claim = () => presence.callWithRecord(CLAIM, (txn) => store.commitTxn(txn));
  return { store, said, presence, record, claim };
}

test("a claim leaves word, whether it is granted or refused, and its results stay in their places", async () => {
  const { claim, record, said } = createFixture();
  const results = [{ op: "put" }, { op: "range" }, { op: "txn" }];
  expect(await claim()).toMatchObject({ succeeded: true, results });
  expect(record()).toMatchObject({ value: "there", session: 0n });
  said.text = "there again";
  expect(await claim()).toMatchObject({ succeeded: false });
  expect(record()).toMatchObject({ value: "there again" });
});

test("what is there already is not written again", async () => {
  const { claim, record } = createFixture();
  await claim();
  const before = record();
  await claim();
  expect(record()).toEqual(before);
});

test("who may not write hosts makes the same call without, and does not try again", async () => {
  const { store, claim, record } = createFixture();
  store.check = createHostWriteGuard(keys);
  expect(await claim()).toMatchObject({ succeeded: true });
  expect(store.sent).toHaveLength(2);
  expect(store.sent[1]).toEqual(CLAIM);
  await claim();
  expect(store.sent).toHaveLength(3);
  expect(record()).toBeUndefined();
});

test.each([
  ["who may not write anything is told so, after a second call without", "permission", 2],
  ["other errors are the caller's", "noSession", 1],
] as const)("%s", async (_, kind, calls) => {
  const { store, claim } = createFixture();
  store.check = () => {
    throw new StoreError(kind, "refused");
  };
  await expect(claim()).rejects.toMatchObject({ kind });
  expect(store.sent).toHaveLength(calls);
});

test("a name that can be no key is left out", async () => {
  const { store, presence, claim } = createFixture("web1\n");
  expect(presence.keyToRead).toBeUndefined();
  await claim();
  expect(store.sent).toEqual([CLAIM]);
});

test.each([
  ["outdated", "before", 1],
  ["missing", undefined, 1],
  ["what it would say", "there", 0],
])(
  "who leaves without a claim and saw that the word is %s, says it so many times: %j %d",
  async (_, seen, calls) => {
    const { store, presence } = createFixture();
    expect(presence.keyToRead).toBe(KEY);
    presence.compareRecord(seen);
    expect(presence.keyToRead).toBeUndefined();
    await presence.writeOutdated();
    expect(store.sent).toHaveLength(calls);
  },
);

test("who leaves after a claim, or has seen nothing, says nothing more", async () => {
  const { store, presence, claim } = createFixture();
  await presence.writeOutdated();
  expect(store.sent).toHaveLength(0);
  await claim();
  presence.compareRecord("before");
  await presence.writeOutdated();
  expect(store.sent).toHaveLength(1);
});

test("whatever etcd answers to a last word, it harms nobody", async () => {
  const { store, presence } = createFixture();
  store.check = createHostWriteGuard(keys);
  presence.compareRecord(undefined);
  await expect(presence.writeOutdated()).resolves.toBeUndefined();
});
