/** Waiters with a broken watch, and waiters behind one that dies. */

import { describe, expect } from "vitest";
import { matchWatchCreation } from "../../../fixtures/cluster/request-patterns.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { recordChanges } from "../../../fixtures/cluster/ticket-changes.ts";
import { startStopwatch } from "../../../fixtures/steady.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const WATCHES = "etcd_debugging_mvcc_watcher_total";
const EVENTS = "etcd_debugging_mvcc_events_total";
const LOCK = ["--lock", "x", "--wait"];
const LEASE = ["--no-lock", "--lease", "db=1:1"];

/** What etcd may be late in expiring a session, and a busy machine in everything, ms. */
const LATE = 4_000;

const startFirst = (namespace: TestNamespace, options: readonly string[]) =>
  namespace.jobs.startHolder("first", options);

describe.each(TRANSPORTS)("over %s, a waiter gets its turn", (transport) => {
  test.each([
    { queue: "lock", options: LOCK },
    { queue: "resource", options: LEASE },
  ])("in the queue of a $queue though history was compacted under it", async ({ options }) => {
    const namespace = await cluster.createTestNamespace(transport);
    const interceptor = await namespace.interceptRequests();
    const first = await startFirst(namespace, options);
    const creation = interceptor.interceptNext(matchWatchCreation(transport), "request");
    const run = namespace.jobs.start("run", [...options, "--ttl", "60s"], {
      endpoints: [interceptor.endpoint],
    });
    const watch = await creation;
    await compactAll(namespace);
    watch.release();
    await waitForWatches(namespace); // the watch from the old revision is refused, a new one stands
    first.finish();
    const sinceFreed = startStopwatch();
    expect(await run.ended).toExitSilently(0);
    expect(sinceFreed()).toBeLessThan(9_000); // not by reading again, which is 10 s away at least
  });

  test.each([
    { fault: "is reset", ttl: 30, meddle: "reset" },
    { fault: "falls silent", ttl: 6, meddle: "silence" },
  ] as const)("though its watch $fault", async ({ ttl, meddle }) => {
    const namespace = await cluster.createTestNamespace(transport);
    const interceptor = await namespace.interceptRequests();
    const first = await startFirst(namespace, LOCK);
    const creation = interceptor.interceptNext(matchWatchCreation(transport), "request");
    const options = [...LOCK, "--ttl", `${ttl}s`, "--termination-timeout", "1s"];
    const run = namespace.jobs.start("run", options, { endpoints: [interceptor.endpoint] });
    const watch = await creation;
    watch.release();
    await waitForWatches(namespace);
    watch[meddle]();
    first.finish();
    const sinceFreed = startStopwatch();
    expect(await run.ended).toExitSilently(0);
    expect(sinceFreed()).toBeLessThan((ttl / 3) * 1_000 + LATE);
  });
});

/** Waits until the waiter's watch stands, beside that of the holder, which watches its own ticket alone. */
async function waitForWatches(namespace: TestNamespace): Promise<void> {
  await waitUntil("the watches stand", async () => (await namespace.readMetric(WATCHES)) >= 3);
}

async function compactAll(namespace: TestNamespace): Promise<void> {
  for (let i = 0; i < 5; i += 1)
    await namespace.etcd.runEtcdctl("put", `${namespace.keys.prefix}elsewhere`, String(i));
  const { revision } = await namespace.store.readRange({ key: "any" });
  await namespace.etcd.runEtcdctl("compact", revision.toString());
}

describe("a waiter killed in mid-queue delays those behind it by its TTL at most", () => {
  test.each([
    { queue: "lock", transport: "http", options: LOCK },
    { queue: "resource", transport: "grpc", options: LEASE },
  ] as const)("in the queue of a $queue, over $transport", async ({ transport, ...one }) => {
    const namespace = await cluster.createTestNamespace(transport);
    const { jobs } = namespace;
    const ttl = 2_000;
    const times = ["--ttl", `${ttl / 1000}s`, "--termination-timeout", "300ms"];
    const first = await startFirst(namespace, one.options);
    const changes = await recordChanges(namespace, namespace.keys.getFullRange());
    const victim = await jobs.startWaiter("victim", [...one.options, ...times]);
    const next = await jobs.startWaiter("next", one.options);
    victim.kill("SIGKILL");
    const sinceKilled = startStopwatch();
    first.finish();
    await jobs.journal.waitForLine("next", "start");
    expect(sinceKilled(), jobs.journal.formatTimeline()).toBeLessThan(ttl + LATE);
    expect(changes.filter(({ ticket }) => ticket?.label === "victim" && ticket.state !== "waiting")).toEqual(
      [],
    );
    expect(await next.ended).toExit(0, { stderr: "" });
    expect(await namespace.listLeftovers()).toEqual([]);
  });
});

test("a hand-off among 20 waiters wakes one of them", async ({ namespace }) => {
  const first = await startFirst(namespace, LOCK);
  const waiters = Array.from({ length: 20 }, (_, index) => `w${index}`);
  const runs = waiters.map((name) => namespace.jobs.start(name, LOCK));
  await waitUntil("all wait", async () => (await namespace.listTickets()).length === 21);
  const before = await namespace.readMetric(EVENTS);
  first.finish();
  const codes = (await Promise.all(runs.map(({ ended }) => ended))).map(({ code }) => code);
  expect(codes).toEqual(waiters.map(() => 0));
  // The delete of the ticket ahead; and where it comes late, one's own grant.
  expect(((await namespace.readMetric(EVENTS)) - before) / waiters.length).toBeLessThanOrEqual(2);
});
