/** Operators change the keys of a claim directly: the command ends before the claim is free, and the exit code shows it. */

import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { type QueueEntry, serializeTicket } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();
const LOCK = ["--lock", "x", "--wait"];
const BOTH = [...LOCK, "--lease", "db=1:1"];
const LEASE = ["--no-lock", "--lease", "db=1:1"];
const TIMES = ["--ttl", "30s", "--termination-timeout", "400ms"];

type Deed = (namespace: TestNamespace, entries: readonly QueueEntry[]) => Promise<unknown>;

const removeFirst: Deed = (namespace, [entry]) => namespace.etcd.runEtcdctl("del", entry?.key ?? "");
const removeLast: Deed = (namespace, entries) => removeFirst(namespace, entries.slice(-1));
const revoke: Deed = (namespace, [entry]) =>
  namespace.etcd.runEtcdctl("lease", "revoke", entry?.session.toString(16) ?? "");
const spoilTicket: Deed = (namespace, [entry]) =>
  namespace.etcd.runEtcdctl("put", "--ignore-lease", entry?.key ?? "", "{");
const reset: Deed = async (namespace, [entry]) => {
  if (entry?.ticket === undefined) throw new Error("no ticket to reset");
  const { key, ticket, modRevision } = entry;
  const value = serializeTicket({ ...ticket, reset: { by: "an operator", at: Date.now(), why: "by hand" } });
  const compare = [{ key, target: "mod", is: "equal", value: modRevision } as const];
  return namespace.store.commitTxn({
    compare,
    success: [{ op: "put", key, value, keepSession: true }],
    failure: [],
  });
};

describe.each(TRANSPORTS)("over %s, a holder", (transport) => {
  it.each([
    { title: "whose ticket is deleted", act: removeFirst, options: LOCK, tickets: 1 },
    { title: "whose lease's ticket is deleted", act: removeLast, options: BOTH, tickets: 2 },
    { title: "whose session is revoked", act: revoke, options: BOTH, tickets: 2 },
    { title: "who is reset", act: reset, options: LOCK, tickets: 1 },
    { title: "who is reset on a resource", act: reset, options: LEASE, tickets: 1 },
  ])("$title ends its command, with 125", async ({ act, options, tickets }) => {
    const namespace = await cluster.createTestNamespace(transport);
    const { jobs } = namespace;
    const run = await jobs.startAndWait("run", [...options, ...TIMES], { hold: ["stubborn"] });
    await act(namespace, await jobs.waitForTickets("run", "held", tickets));
    const { code, stderr } = await run.ended;
    const { pid } = await jobs.journal.waitForLine("run", "start");
    expect({ code, alive: existsSync(`/proc/${pid}`) }, jobs.journal.formatTimeline()).toEqual({
      code: 125,
      alive: false,
    });
    expect(stderr).toContain("the claim was lost, the command was terminated");
    expect(await namespace.listLeftovers()).toEqual([]);
  });

  it("who is reset keeps its place until its command is dead, though that ignores TERM", async () => {
    const namespace = await cluster.createTestNamespace(transport);
    const { jobs } = namespace;
    const run = await jobs.startAndWait("run", [...LOCK, ...TIMES], { hold: ["stubborn"] });
    const next = await jobs.startWaiter("next", LOCK);
    const { pid } = await jobs.journal.waitForLine("run", "start");
    const freed = waitUntilTicketGone(namespace, pid);
    await reset(namespace, await jobs.waitForTickets("run", "held"));
    expect(await freed, jobs.journal.formatTimeline()).toEqual({ alive: false });
    expect([(await run.ended).code, (await next.ended).code]).toEqual([125, 0]);
    const lines = jobs.journal.readLines().map(({ name }) => name);
    expect(lines.lastIndexOf("run"), jobs.journal.formatTimeline()).toBeLessThan(lines.indexOf("next"));
  });
});

/** Whether a process lives when the first ticket of the lock goes. */
async function waitUntilTicketGone(namespace: TestNamespace, pid: number) {
  const queue = { ...namespace.keys.getQueueRange("lock", "x"), only: "deletes" } as const;
  const { revision } = await namespace.store.readRange(queue);
  const stop = AbortSignal.timeout(50_000);
  for await (const _ of namespace.store.watch({ ranges: [queue], from: revision + 1n }, stop)) break;
  return { alive: existsSync(`/proc/${pid}`) };
}

describe.each(TRANSPORTS)("over %s, a waiter", (transport) => {
  it.each([
    { title: "whose ticket is deleted leaves", act: removeFirst, code: 75 },
    { title: "whose ticket is overwritten with garbage leaves", act: spoilTicket, code: 75 },
    { title: "who is reset leaves", act: reset, code: 75 },
    { title: "whose session is revoked queues again", act: revoke, code: 0 },
  ])("$title", async ({ act, code }) => {
    const namespace = await cluster.createTestNamespace(transport);
    const holder = await namespace.jobs.startHolder("first", LOCK);
    const run = namespace.jobs.start("run", [...LOCK, ...TIMES]);
    const [entry, ...more] = await namespace.jobs.waitForTickets("run", "waiting");
    if (entry === undefined) throw new Error("it waits without a ticket");
    await act(namespace, [entry, ...more]);
    if (code === 0) await waitForNewTicket(namespace, entry);
    else await run.ended;
    holder.finish();
    expect(await run.ended).toExitSilently(code);
    await namespace.waitForProcesses();
    expect(await namespace.listLeftovers()).toEqual([]);
  });
});

/** Waits until the run stands in its queue under another session. */
async function waitForNewTicket(namespace: TestNamespace, before: QueueEntry) {
  await waitUntil("it stands in the queue again", async () =>
    (await namespace.listTickets()).some(
      ({ ticket, session }) => ticket?.label === "run" && session !== before.session,
    ),
  );
}
