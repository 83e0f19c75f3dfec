/** Sample snapshots for tests. */

import { type AuditRecord, serializeAuditRecord } from "../../../src/core/protocol/audit.ts";
import { type Drain, serializeDrain } from "../../../src/core/protocol/drain.ts";
import type { PastRun } from "../../../src/core/protocol/history.ts";
import type { DrainScope } from "../../../src/core/protocol/keys.ts";
import { serializeTicket, type Ticket } from "../../../src/core/protocol/ticket.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { SNAPSHOT_COLLECTIONS, type Snapshot } from "../../../src/site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../src/site/state/snapshot-builder.ts";
import { keys, ticketWith } from "../../core/protocol/samples.ts";

export const NOW = 1_700_000_100_000;

/** Tickets that hold since a minute, and that wait. */
export const held = { state: "held", grantedAt: NOW - 60_000 } as const;
export const waiting = { state: "waiting" } as const;

/** Returns the run for a letter. */
export const runOf = (letter: string): string => letter.repeat(16);

/**
 * The ticket of a run named by a letter, on a host named by it, in `lock x` or `resource db`, claimed at a revision.
 * It waits, unless it says `lock x held`.
 */
export function stand(what: string, letter: string, at: number, ticket: Partial<Ticket> = {}): KeyValue {
  const [kind, name = "", state] = what.split(" ");
  const run = runOf(letter);
  const host = `${letter}.example.com`;
  const key = kind === "lock" ? keys.lock(name, run) : keys.resource(name, run);
  return plain(
    key,
    serializeTicket(ticketWith({ run, host, ...(state === "held" && { state }), ...ticket })),
    at,
  );
}

export function plain(key: string, value = "{}", at = 1): KeyValue {
  return { key, value, createRevision: BigInt(at), modRevision: BigInt(at), session: 7n };
}

/** A run that held a lock for three seconds after it had waited for one. */
export function pastRun(more: Partial<PastRun> = {}): PastRun {
  return {
    run: runOf("p"),
    host: "web1.example.com",
    pid: 4711,
    command: "invoices.sh",
    token: "12",
    enqueuedAt: NOW - 4_000,
    grantedAt: NOW - 3_000,
    endedAt: NOW,
    waited: 1_000,
    held: 3_000,
    exit: 0,
    ...more,
  };
}

/** The history of a lock, newest first. */
export const historyOf = (lock: string, ...runs: readonly Partial<PastRun>[]): KeyValue =>
  plain(keys.history(lock), JSON.stringify({ v: 1, runs: runs.map(pastRun) }));

/** A drain by ann, now. */
export const drainOf = (scope: DrainScope, name: string, more: Partial<Drain> = {}): KeyValue =>
  plain(keys.drain(scope, name), serializeDrain({ by: "ann", at: NOW, ...more }));

export const groupOf = (name: string, ...members: readonly string[]): KeyValue =>
  plain(keys.group(name), JSON.stringify(members));

/** What ann did on a host. */
export const auditOf = (id: string, record: Partial<AuditRecord>): KeyValue =>
  plain(
    keys.audit(id),
    serializeAuditRecord({
      id,
      at: NOW,
      user: "ann",
      host: "ops",
      action: "drain",
      target: "",
      seen: 1n,
      outcome: "done",
      ...record,
    }),
  );

/** The configuration of a resource. */
export const resourceOf = (name: string, config: object): KeyValue =>
  plain(keys.resourceConfig(name), JSON.stringify({ v: 1, ...config }));

/** The facts of a host. */
export const hostOf = (name: string, facts: object): KeyValue =>
  plain(keys.host(name), JSON.stringify({ v: 1, ...facts }));

export function pictureOf(kvs: readonly KeyValue[], revision = 100n): Snapshot {
  const fold = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
  fold.begin();
  for (const kv of kvs) fold.add(kv);
  fold.finish(revision);
  return fold.getSnapshot();
}
