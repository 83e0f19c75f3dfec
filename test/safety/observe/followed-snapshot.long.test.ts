/** The followed snapshot equals a fresh read at each of its revisions. */

import { describe, expect, it } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import { createRunningRecord } from "../../../fixtures/schedule/schedule-keys.ts";
import { PATIENCE } from "../../../fixtures/steady.ts";
import { createTestRandom } from "../../../fixtures/test-seed.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { openStore } from "../../../src/core/etcd/open.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { createKeys, type Keys } from "../../../src/core/protocol/keys.ts";
import { serializeTicket, TICKET_STATES } from "../../../src/core/protocol/ticket.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";
import { formatRunning } from "../../../src/schedule/state/running-record.ts";
import { followEtcd } from "../../../src/site/observe/follow.ts";
import type { ObserverPorts } from "../../../src/site/observe/ports.ts";
import { load } from "../../../src/site/observe/read.ts";
import { SNAPSHOT_COLLECTIONS, type Snapshot } from "../../../src/site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../src/site/state/snapshot-builder.ts";

const clock = createRealClock();
const cluster = TestCluster.startForFile();
const random = createTestRandom("followed-snapshot");
const pick = <T>(things: readonly T[]) => things[number(things.length)] as T;
const number = (below: number) => Math.floor(random.drawUnit() * below);

/** A change of any collection, sensible or not. */
function generateOp(keys: Keys): Op {
  const run = String(number(12)).padStart(16, "0");
  const ticket = serializeTicket(
    createTicket({ run, state: pick(TICKET_STATES), count: 1 + number(3), total: 9 }),
  );
  const value = random.drawUnit() < 0.05 ? "{" : undefined;
  const [key, sense] = pick([
    [keys.lock(`l${number(9)}`, run), ticket],
    [keys.resource(`r${number(3)}`, run), ticket],
    [keys.group(`g${number(4)}`), '["a","b"]'],
    [keys.resourceConfig(`r${number(3)}`), String(1 + number(9))],
    [keys.drain(pick(["lock", "host"]), `n${number(3)}`), `{"v":1,"by":"x","at":${number(99)}}`],
    [keys.host(`h${number(5)}`), `{"v":1,"seenAt":${number(999)}}`],
    [keys.history(`l${number(9)}`), '{"v":1,"runs":[]}'],
    [keys.audit(`a${number(20)}`), '{"v":1}'],
    [keys.schedule(`s${number(5)}`), '{"v":1,"cron":"0 * * * *","timezone":"UTC"}'],
    [keys.due(`s${number(5)}`), `{"v":1,"runAt":${number(99)}}`],
    [keys.running(`s${number(5)}`, pick([undefined, 0, 60_000])), formatRunning(createRunningRecord())],
    [keys.worker(`w${number(3)}`), "{}"],
    [`${keys.prefix}locks/l1/by-hand`, "x"],
    [`${keys.prefix}drains/none/x`, "x"],
  ] as const);
  return random.drawUnit() < 0.4 ? { op: "delete", key } : { op: "put", key, value: value ?? sense };
}

/** Changes of a transaction: each key once, as etcd wants it. */
function generateTxn(keys: Keys): Op[] {
  const ops = Array.from({ length: 40 }, () => generateOp(keys));
  return [...new Map(ops.map((op) => ["key" in op ? op.key : "", op])).values()];
}

/** What a picture says, so that two can be compared. */
function formatSnapshot({ revision, etcdFaults: _, ...collections }: Snapshot) {
  const sorted = Object.entries(collections).map(([collection, things]) => [
    collection,
    [...things].sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);
  return JSON.stringify(
    [revision, sorted],
    (_, value) => (typeof value === "bigint" ? `${value}n` : value),
    1,
  );
}

describe.each(TRANSPORTS)("over %s, a picture", (transport) => {
  it("equals a fresh read at every revision it claims, through 1,000 changes a second, cuts and compactions", async () => {
    const keys = createKeys(`/picture-${transport}/`);
    const proxy = await FaultProxy.start(cluster.etcd.clientUrl);
    const store = await openStore({ endpoints: [proxy.url], transport }, { clock });
    const settings = { connectTimeout: 10_000 };
    const ports: ObserverPorts = { store, keys, clock, random: realRandom, settings };
    const stop = new AbortController();
    const seen = {
      compared: 0,
      away: 0,
      reads: 0,
      batches: 0,
      compactions: 0,
      changes: 0,
      revisions: new Set<bigint>(),
    };
    let isComparing = false;

    const write = async () => {
      for (; !stop.signal.aborted; seen.changes += 40) {
        await cluster.write(...generateTxn(keys));
        await clock.sleep(20);
      }
    };
    const compact = async () => {
      for (; !stop.signal.aborted; await clock.sleep(number(300))) {
        const { revision } = await cluster.store.readRange({ key: "x" });
        if (isComparing || seen.reads === 0) continue; // a first read that is overtaken again and again fails, by design
        const body = JSON.stringify({ revision: String(revision) });
        await fetch(`${cluster.etcd.clientUrl}/v3/kv/compaction`, { method: "POST", body });
        seen.compactions += 1;
      }
    };
    const cut = async () => {
      for (let turn = 0; !stop.signal.aborted; turn += 1) {
        const isLong = turn % 2 === 1; // only those are worth a word
        proxy.mode = isLong ? "refuse" : pick(["forward", "refuse"]);
        proxy.reset();
        await clock.sleep(isLong ? 700 : number(100));
        proxy.mode = "forward";
        await clock.sleep(250 + number(250));
      }
    };
    /** Compares with a read of its own, past the proxy, while compactions wait. */
    const compare = async (snapshot: Snapshot) => {
      isComparing = true;
      const fresh = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
      const revision = await load({ ...ports, store: cluster.store }, fresh, {
        revision: snapshot.revision,
      }).catch(() => undefined);
      isComparing = false;
      if (revision === undefined) return; // compacted before it could be compared
      expect(formatSnapshot(snapshot)).toBe(formatSnapshot(fresh.getSnapshot()));
      seen.compared += 1;
      seen.revisions.add(snapshot.revision);
    };
    const watch = async () => {
      const fold = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
      for await (const news of followEtcd(ports, fold, stop.signal)) {
        if (news.kind === "away") seen.away += 1;
        else seen[news.kind === "read" ? "reads" : "batches"] += 1;
        await compare(fold.getSnapshot());
      }
    };

    const all = [write(), compact(), cut(), watch()];
    const failed = Promise.race(all).catch((error) => {
      throw error;
    });
    failed.catch(() => {});
    const enough = waitUntil(
      "enough was seen",
      () => seen.revisions.size >= 50 && seen.away >= 3 && seen.reads >= 4 && seen.compactions >= 10,
      { ms: 2 * PATIENCE, describe: () => JSON.stringify({ ...seen, revisions: seen.revisions.size }) },
    );
    try {
      await Promise.race([enough, failed]);
    } finally {
      stop.abort(new Error("enough"));
      await Promise.allSettled(all);
      store.close();
      await proxy.close();
    }
    expect(seen.batches).toBeGreaterThan(0);
  });
});
