import type { Op, Store } from "../../src/etcd/store.ts";
import { groupText } from "../../src/fleet/groups.ts";
import { resourceText } from "../../src/fleet/resources.ts";
import { type AuditRecord, auditText, auditTime } from "../../src/protocol/audit.ts";
import { drainText } from "../../src/protocol/drain.ts";
import { appended, HISTORY_LENGTH, type PastRun } from "../../src/protocol/history.ts";
import { keysUnder } from "../../src/protocol/keys.ts";
import { type Ticket, ticketText } from "../../src/protocol/ticket.ts";
import { Chance } from "../demo/chance.ts";
import { CLAIMS, cpu, GROUPS, HOSTS, type SceneClaim, TOTALS } from "./claims.ts";
import { schedules, WORKERS_SESSION } from "./schedules.ts";

/** Now, in the scene: a bad hour. Wall clock, ms since the epoch. */
export const WALL = Date.parse("2026-03-03T03:12:00Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Of a session, s; renewed so often that none ever has less than it is shown to have. */
const TTL = 30;
const RENEW_EVERY = 1_000;

const keys = keysUnder("/signalbox/");
const fullName = (host: string) => `${host}.example.com`;
type PutOp = Extract<Op, { op: "put" }>;
const put = (key: string, value: string): PutOp => ({ op: "put", key, value });
/** Looks like a run's id, and is the same for the same number. */
function runId(number: number): string {
  const chance = new Chance(number, "run");
  const letter = () => "0123456789abcdefghjkmnpqrstvwxyz"[Math.floor(chance.unit() * 32)];
  return Array.from({ length: 16 }, letter).join("");
}

/** Writes the scene, one transaction after the other: revisions are the same each time. @returns stops renewing sessions */
export async function writeScene(store: Store): Promise<() => void> {
  const write = (...success: Op[]) => store.txn({ compare: [], success, failure: [] });
  await write(...settings());
  await write(...hostRecords());
  await write(...histories());
  await write(...audits());
  const sessions = CLAIMS.map((_, index) => BigInt(index + 1));
  for (const [index, claim] of CLAIMS.entries()) {
    const session = BigInt(index + 1);
    await store.grant(session, TTL);
    await write(...tickets(claim, index, session));
  }
  await write(put(keys.lock("legacy-import", runId(99)), "{ this was put by hand"));
  await write(...drains());
  await store.grant(WORKERS_SESSION, TTL);
  await write(...schedules(keys));
  const timer = setInterval(() => {
    for (const session of [...sessions, WORKERS_SESSION]) void store.renew(session).catch(() => {});
  }, RENEW_EVERY);
  return () => clearInterval(timer);
}

/**
 * Runs come and go; at the end all is as it was, but for the revision.
 * @param seen  resolves when the console shows a revision: what comes and goes between two of its pictures is no event
 */
export async function stir(store: Store, seen: (revision: bigint) => Promise<void>): Promise<void> {
  const session = 99n;
  await store.grant(session, TTL);
  const write = async (...success: Op[]) =>
    await seen((await store.txn({ compare: [], success, failure: [] })).revision);
  const away = (key: string): Op => ({ op: "delete", key });
  const passing: SceneClaim[] = [
    { lock: "sitemap", host: "web2", pid: 7790, queued: 1, granted: 1 },
    { lock: "wal-archive", host: "db1", pid: 3188, queued: 1, granted: 1, leases: cpu("db1") },
    { lock: "backup-db", host: "db2", pid: 947, queued: 1 },
  ];
  const claims = passing.map((claim, index) => tickets(claim, 200 + index, session));
  for (const claim of claims) await write(...claim);
  for (const claim of claims) await write(...claim.map(({ key }) => away(key)));
  await store.revoke(session);
}

function settings(): Op[] {
  return [
    ...Object.entries(GROUPS).map(([group, members]) => put(keys.group(group), groupText(members))),
    ...Object.entries(TOTALS).map(([resource, [total, note, order]]) => {
      const more = { ...(note !== undefined && { note }), ...(order !== undefined && { order }) };
      return put(keys.resourceConfig(resource), resourceText({ total: String(total), ...more }));
    }),
  ];
}

function hostRecords(): Op[] {
  return Object.entries(HOSTS).map(([host, [cpu, memMb, minutes]]) => {
    const macros = { CORES: cpu, RAM: memMb };
    const record = { v: 1, cpu, memMb, macros, version: "0.1.0", seenAt: WALL - minutes * MINUTE };
    return put(keys.host(fullName(host)), JSON.stringify(record));
  });
}

function histories(): Op[] {
  const locks = [
    ...new Set(CLAIMS.flatMap(({ lock }) => lock ?? [])),
    "dunning",
    "sitemap",
    "vacuum",
    "wal-archive",
  ];
  return locks.map((lock) => {
    const chance = new Chance(1, lock);
    const usual = CLAIMS.find((claim) => claim.lock === lock)?.granted ?? 90;
    const every = chance.between([7, 60]) * MINUTE;
    const runs = Array.from({ length: HISTORY_LENGTH }, (_, index): PastRun => {
      const endedAt = Math.round(WALL - (HISTORY_LENGTH - index - chance.unit() / 2) * every);
      const held = Math.round(usual * chance.between([600, 2_500]));
      const waited = Math.round(chance.unit() ** 3 * 90_000);
      return {
        ...{ run: runId(1000 + index), host: fullName(chance.one(["batch1", "batch2", "web1", "db1"])) },
        ...{
          pid: Math.floor(chance.between([900, 32_000])),
          command: `${lock}.sh`,
          token: String(index + 2),
        },
        ...{ enqueuedAt: endedAt - held - waited, grantedAt: endedAt - held, endedAt, waited, held },
        exit: chance.unit() < 0.1 ? chance.one([1, 2, 137]) : 0,
      };
    });
    const text = runs.reduce<string | undefined>((before, past) => appended(before, past), undefined);
    return put(keys.history(lock), text ?? "");
  });
}

type Deed = readonly [
  minutes: number,
  user: string,
  action: AuditRecord["action"],
  target: string,
  reason: string,
  outcome: string,
];

const DEEDS: readonly Deed[] = [
  [4_440, "ann", "drain", "host db2.example.com", "new disks", "drained"],
  [4_380, "ann", "undrain", "host db2.example.com", "disks are in", "undrained"],
  [3_061, "bob", "reset", "lock video-transcode", "stuck for an hour", "ended, the next one was granted"],
  [1_822, "carol", "resource", "resource db", "the new replica", "total 8 → 10"],
  [1_690, "bob", "group", "group web", "web4 is bought", "+ web4.example.com"],
  [371, "ann", "reset", "lock report-taxes", "wrong month", "ended, the next one was granted"],
  [15, "carol", "drain", "lock invoices", "month-end closing", "drained for 2h"],
  [14, "ann", "drain", "group mail", "kernel upgrade", "drained"],
];

function audits(): Op[] {
  return DEEDS.map(([minutes, user, action, target, reason, outcome], index) => {
    const at = WALL - minutes * MINUTE;
    const id = `${auditTime(at)}${"0".repeat(9)}${index}`;
    const record = { id, at, user, host: "ops1.example.com", action, target, reason, outcome };
    return put(keys.audit(id), auditText({ ...record, seen: BigInt(index + 1) }));
  });
}

/** All tickets of a claim stand in one transaction; a waiter for a lock has none on resources yet. */
function tickets(claim: SceneClaim, index: number, session: bigint): PutOp[] {
  const { lock, leases = {}, lacks, granted } = claim;
  const run = runId(index);
  const state = (resource?: string): Ticket["state"] => {
    if (granted !== undefined) return "held";
    return lacks === undefined || resource === lacks ? "waiting" : "admitted";
  };
  const value = (more: Pick<Ticket, "count" | "total" | "state">) =>
    ticketText({ ...about(claim, run), ...more });
  const onLock =
    lock === undefined
      ? []
      : [[keys.lock(lock, run), value({ count: 1, total: 1, state: state() })] as const];
  const onResources = Object.entries(leases).map(([resource, count]) => {
    const total = totalOf(resource);
    return [keys.resource(resource, run), value({ count, total, state: state(resource) })] as const;
  });
  return [...onLock, ...onResources].map(([key, text]) => ({ ...put(key, text), session }));
}

function about({ lock, host, pid, queued, granted, label }: SceneClaim, run: string) {
  return {
    ...{ run, host: fullName(host), pid, user: "deploy", command: `${lock ?? "cad-render"}.sh` },
    enqueuedAt: WALL - queued * 1000,
    ...(granted !== undefined && { grantedAt: WALL - granted * 1000 }),
    ...(label !== undefined && { label }),
  };
}

function totalOf(resource: string): number {
  const [total] = TOTALS[resource] ?? [];
  if (typeof total === "number") return total;
  const [host = "", what] = resource.split(/\.example\.com_/);
  const [cores = 1, ram = 1] = HOSTS[host] ?? [];
  return what === "cpu" ? cores : ram;
}

function drains(): Op[] {
  const by = (user: string) => `${user}@ops1.example.com`;
  const ended = { by: by("bob"), at: WALL - 26 * HOUR, until: WALL - 25 * HOUR, why: "zone transfer" };
  const closing = {
    by: by("carol"),
    at: WALL - 15 * MINUTE,
    until: WALL + 105 * MINUTE,
    why: "month-end closing",
  };
  const upgrade = { by: by("ann"), at: WALL - 14 * MINUTE, why: "kernel upgrade" };
  return [
    put(keys.drain("lock", "dns-sync"), drainText(ended)),
    put(keys.drain("lock", "invoices"), drainText(closing)),
    put(keys.drain("group", "mail"), drainText(upgrade)),
  ];
}
