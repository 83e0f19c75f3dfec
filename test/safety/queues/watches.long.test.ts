/** What becomes of a waiter whose watch is broken, and of those behind a waiter that dies. */
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { startStopwatch } from "../../../fixtures/steady.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { matchWatchCreation } from "../support/request-patterns.ts";
import { type Stage, Theatre, TRANSPORTS } from "../support/theatre.ts";
import { recordChanges } from "../support/ticket-changes.ts";

const theatre = new Theatre();
const WATCHES = "etcd_debugging_mvcc_watcher_total";
const EVENTS = "etcd_debugging_mvcc_events_total";
const LOCK = ["--lock", "x", "--wait"];
const LEASE = ["--no-lock", "--lease", "db=1:1"];

/** What etcd may be late in expiring a session, and a busy machine in everything, ms. */
const LATE = 4_000;

const gateOf = (stage: Stage) => `${stage.journal.folder}/gate`;
const first = (stage: Stage, options: readonly string[]) =>
  stage.startJobAndWait({ name: "first", options, hold: ["until", gateOf(stage)] });

describe.each(TRANSPORTS)("over %s, a waiter gets its turn", (transport) => {
  it.each([
    { queue: "lock", options: LOCK },
    { queue: "resource", options: LEASE },
  ])("in the queue of a $queue though history was compacted under it", async ({ options }) => {
    const stage = await theatre.createTestNamespace(transport);
    const meddler = await stage.interceptRequests();
    await first(stage, options);
    const creation = meddler.interceptNext(matchWatchCreation(transport), "request");
    const run = stage.startJob({
      name: "run",
      options: [...options, "--ttl", "60s"],
      endpoint: meddler.endpoint,
    });
    const watch = await creation;
    await compactAll(stage);
    watch.release();
    await opened(stage); // the watch from the old revision is refused, a new one stands
    writeFileSync(gateOf(stage), "");
    const sinceFreed = startStopwatch();
    expect(await run.ended).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
    expect(sinceFreed()).toBeLessThan(9_000); // not by reading again, which is 10 s away at least
  });

  it.each([
    { fault: "is reset", ttl: 30, meddle: "reset" },
    { fault: "falls silent", ttl: 6, meddle: "silence" },
  ] as const)("though its watch $fault", async ({ ttl, meddle }) => {
    const stage = await theatre.createTestNamespace(transport);
    const meddler = await stage.interceptRequests();
    await first(stage, LOCK);
    const creation = meddler.interceptNext(matchWatchCreation(transport), "request");
    const options = [...LOCK, "--ttl", `${ttl}s`, "--termination-timeout", "1s"];
    const run = stage.startJob({ name: "run", options, endpoint: meddler.endpoint });
    const watch = await creation;
    watch.release();
    await opened(stage);
    watch[meddle]();
    writeFileSync(gateOf(stage), "");
    const sinceFreed = startStopwatch();
    expect(await run.ended).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
    expect(sinceFreed()).toBeLessThan((ttl / 3) * 1_000 + LATE);
  });
});

/** Waits until the waiter's watch stands, beside that of the holder, which watches its own ticket alone. */
async function opened(stage: Stage): Promise<void> {
  await waitUntil("the watches stand", async () => (await stage.readMetric(WATCHES)) >= 3);
}

async function compactAll(stage: Stage): Promise<void> {
  for (let i = 0; i < 5; i += 1)
    await stage.etcd.runEtcdctl("put", `${stage.keys.prefix}elsewhere`, String(i));
  const { revision } = await stage.store.readRange({ key: "any" });
  await stage.etcd.runEtcdctl("compact", revision.toString());
}

describe("a waiter killed in mid-queue delays those behind it by its TTL at most", () => {
  it.each([
    { queue: "lock", transport: "http", options: LOCK },
    { queue: "resource", transport: "grpc", options: LEASE },
  ] as const)("in the queue of a $queue, over $transport", async ({ transport, ...one }) => {
    const stage = await theatre.createTestNamespace(transport);
    const ttl = 2_000;
    const times = ["--ttl", `${ttl / 1000}s`, "--termination-timeout", "300ms"];
    await first(stage, one.options);
    const changes = await recordChanges(stage, stage.keys.getFullRange());
    const victim = stage.startJob({ name: "victim", options: [...one.options, ...times] });
    await stage.waitForTickets("victim", "waiting");
    const next = stage.startJob({ name: "next", options: one.options });
    await stage.waitForTickets("next", "waiting");
    victim.child.kill("SIGKILL");
    const sinceKilled = startStopwatch();
    writeFileSync(gateOf(stage), "");
    await stage.journal.waitForLine("next", "start");
    expect(sinceKilled(), stage.journal.formatTimeline()).toBeLessThan(ttl + LATE);
    expect(changes.filter(({ ticket }) => ticket?.label === "victim" && ticket.state !== "waiting")).toEqual(
      [],
    );
    expect(await next.ended).toMatchObject({ code: 0, stderr: "" });
    expect(await stage.listLeftovers()).toEqual([]);
  });
});

it("a hand-off among 20 waiters wakes one of them", async () => {
  const stage = await theatre.createTestNamespace("http");
  await first(stage, LOCK);
  const waiters = Array.from({ length: 20 }, (_, index) => `w${index}`);
  const runs = waiters.map((name) => stage.startJob({ name, options: LOCK }));
  await waitUntil("all wait", async () => (await stage.listTickets()).length === 21);
  const before = await stage.readMetric(EVENTS);
  writeFileSync(gateOf(stage), "");
  const codes = (await Promise.all(runs.map(({ ended }) => ended))).map(({ code }) => code);
  expect(codes).toEqual(waiters.map(() => 0));
  // The delete of the ticket ahead; and where it comes late, one's own grant.
  expect(((await stage.readMetric(EVENTS)) - before) / waiters.length).toBeLessThanOrEqual(2);
});
