/**
 * A leader that was paused goes on and revokes sessions that were renewed under its successor. For etcd that is a revocation in a
 * later raft term than that of the session's grant; here an operator's call plays it, and in one test a leader that is really
 * stopped.
 */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { findOveruse } from "../../../fixtures/cluster/job-journal.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const TTL = 6;
const OPTIONS = ["--ttl", `${TTL}s`, "--termination-timeout", "1s", "-v"];

const cluster = TestCluster.startForFile({ size: 3 });

/** Makes another member the leader. */
async function moveLeader() {
  const before = await findLeader();
  const statuses = await cluster.store.readMemberStatuses();
  const next = statuses.find((one, at) => one.ok && at !== before);
  const id = next?.ok ? next.memberId.toString(16) : "";
  await cluster.getMember(before).runEtcdctl("move-leader", id);
}

async function findLeader() {
  const statuses = await cluster.store.readMemberStatuses();
  const leader = statuses.find((one) => one.ok)?.leaderId;
  return statuses.findIndex((one) => one.ok && one.memberId === leader);
}

/** Revokes the session of the holder, as a former leader does. */
async function revokeHolder(namespace: TestNamespace) {
  const [holder] = await namespace.jobs.waitForTickets("first", "held");
  await cluster.store.revoke(holder?.session ?? 0n);
}

describe.each(TRANSPORTS)("over %s, a session that is revoked after an election", (transport) => {
  test("the next run starts only when nothing is left of the command, and without delay", async () => {
    const namespace = cluster.createNamespace({ transport });
    const { jobs } = namespace;
    const lock = ["--lock", "x", "--wait", ...OPTIONS];
    const first = await jobs.startAndWait("first", lock, { hold: ["stubborn"] });
    const second = await jobs.startWaiter("second", lock);
    await moveLeader();
    await revokeHolder(namespace);
    expect(await first.ended).toExit(125);
    expect(await second.ended).toExit(0);
    expect(jobs.journal.findOveruse()).toEqual([]);
    expect(await namespace.readQueue("x"), "no mark is left").toEqual([]);
  }, 60_000);

  test("the runner is frozen: a run without --wait waits until the guardian has killed the command", async () => {
    const namespace = cluster.createNamespace({ transport });
    const { jobs } = namespace;
    const first = await jobs.startAndWait("first", ["--lock", "x", ...OPTIONS], { hold: ["stubborn"] });
    await moveLeader();
    process.kill(first.pid, "SIGSTOP");
    try {
      await revokeHolder(namespace);
      const second = jobs.start("second", ["--lock", "x", ...OPTIONS]);
      await second.waitForOutput("its session ended before its time; free in at most 6 s");
      await jobs.journal.waitForLine("second", "end");
      expect(jobs.journal.findOveruse()).toEqual([]);
    } finally {
      process.kill(first.pid, "SIGCONT");
    }
    expect(await first.ended).toExit(125);
  }, 60_000);
});

test("a leader that was stopped for longer than the time to live: no two commands at a time", async () => {
  const namespace = cluster.createNamespace({ transport: "http" });
  const { jobs } = namespace;
  const names = Array.from({ length: 4 }, (_, at) => `l${at}`);
  const options = (lock: string) => ["--lock", lock, "--wait", ...OPTIONS];
  await Promise.all(
    names.map((lock) => jobs.startAndWait(`${lock}-first`, options(lock), { hold: ["stubborn"] })),
  );
  for (const lock of names) jobs.start(`${lock}-second`, options(lock), { hold: ["stubborn"] });
  await Promise.all(names.map((lock) => jobs.waitForTickets(`${lock}-second`, "waiting")));
  const leader = await findLeader();
  cluster.getMember(leader).freeze();
  await pause((TTL + 2) * 1_000); // the fault itself
  cluster.getMember(leader).unfreeze();
  await waitUntil("all members answer", async () =>
    (await cluster.store.readMemberStatuses()).every(({ ok }) => ok),
  );
  await pause(TTL * 1_000); // the former leader revokes for some seconds, if it does
  for (const lock of names) {
    const lines = jobs.journal.readLines().filter(({ name }) => name.startsWith(lock));
    expect(findOveruse(lines, 1), jobs.journal.formatTimeline()).toEqual([]);
  }
}, 180_000);
