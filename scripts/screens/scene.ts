import type { Store } from "../../src/core/etcd/store.ts";
import { serializeGroup } from "../../src/core/fleet/groups.ts";
import { serializeResourceConfig } from "../../src/core/fleet/resources.ts";
import { type AuditRecord, formatAuditTime, serializeAuditRecord } from "../../src/core/protocol/audit.ts";
import { serializeDrain } from "../../src/core/protocol/drain.ts";
import { appendPastRun, HISTORY_LENGTH, type PastRun } from "../../src/core/protocol/history.ts";
import { createKeys } from "../../src/core/protocol/keys.ts";
import { serializeTicket, type Ticket } from "../../src/core/protocol/ticket.ts";
import type { Op } from "../../src/core/protocol/txn.ts";
import { NamedRandom } from "../demo/named-random.ts";
import { buildCpuLease, CLAIMS, GROUPS, HOSTS, type SceneClaim, TOTALS } from "./claims.ts";
import { createSchedules, WORKERS_SESSION } from "./schedules.ts";

/** The present time of the scene. Wall clock, ms since the epoch. */
export const WALL = Date.parse("2026-03-03T03:12:00Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Time to live of the sessions, s. They are renewed every second, so that the time left on the screens is the same. */
const TTL = 30;
const RENEW_EVERY = 1_000;

const keys = createKeys("/signalbox/");
const getFullName = (host: string) => `${host}.example.com`;
type PutOp = Extract<Op, { op: "put" }>;
const createPut = (key: string, value: string): PutOp => ({ op: "put", key, value });
/** Creates the id of a run from a number. The same number gives the same id. */
function createRunId(number: number): string {
  const chance = new NamedRandom(number, "run");
  const drawLetter = () => "0123456789abcdefghjkmnpqrstvwxyz"[Math.floor(chance.drawUnit() * 32)];
  return Array.from({ length: 16 }, drawLetter).join("");
}

/** Writes the scene in a fixed order, so that revisions are reproducible. @returns a function that stops the renewal of sessions */
export async function writeScene(store: Store): Promise<() => void> {
  const write = (...success: Op[]) => store.commitTxn({ compare: [], success, failure: [] });
  await write(...createSettings());
  await write(...createHostRecords());
  await write(...createHistories());
  await write(...createAudits());
  const sessions = CLAIMS.map((_, index) => BigInt(index + 1));
  for (const [index, claim] of CLAIMS.entries()) {
    const session = BigInt(index + 1);
    await store.grant(session, TTL);
    await write(...createTickets(claim, index, session));
  }
  await write(createPut(keys.lock("legacy-import", createRunId(99)), "{ this was put by hand"));
  await write(...createDrains());
  await store.grant(WORKERS_SESSION, TTL);
  await write(...createSchedules(keys));
  const timer = setInterval(() => {
    for (const session of [...sessions, WORKERS_SESSION]) void store.renew(session).catch(() => {});
  }, RENEW_EVERY);
  return () => clearInterval(timer);
}

/**
 * Adds and removes runs, so that there are events. At the end, only the revision has changed.
 * @param seen  resolves when the console shows a revision. Without this, a run that is added and removed between two repaints would cause no event
 */
export async function playChanges(store: Store, seen: (revision: bigint) => Promise<void>): Promise<void> {
  const session = 99n;
  await store.grant(session, TTL);
  const write = async (...success: Op[]) =>
    await seen((await store.commitTxn({ compare: [], success, failure: [] })).revision);
  const createDelete = (key: string): Op => ({ op: "delete", key });
  const passing: SceneClaim[] = [
    { lock: "sitemap", host: "web2", pid: 7790, queued: 1, granted: 1 },
    { lock: "wal-archive", host: "db1", pid: 3188, queued: 1, granted: 1, leases: buildCpuLease("db1") },
    { lock: "backup-db", host: "db2", pid: 947, queued: 1 },
  ];
  const claims = passing.map((claim, index) => createTickets(claim, 200 + index, session));
  for (const claim of claims) await write(...claim);
  for (const claim of claims) await write(...claim.map(({ key }) => createDelete(key)));
  await store.revoke(session);
}

function createSettings(): Op[] {
  return [
    ...Object.entries(GROUPS).map(([group, members]) =>
      createPut(keys.group(group), serializeGroup(members)),
    ),
    ...Object.entries(TOTALS).map(([resource, [total, note, order]]) => {
      const more = { ...(note !== undefined && { note }), ...(order !== undefined && { order }) };
      return createPut(
        keys.resourceConfig(resource),
        serializeResourceConfig({ total: String(total), ...more }),
      );
    }),
  ];
}

function createHostRecords(): Op[] {
  return Object.entries(HOSTS).map(([host, [cpu, memMb, minutes]]) => {
    const macros = { CORES: cpu, RAM: memMb };
    const record = { v: 1, cpu, memMb, macros, version: "0.1.0", seenAt: WALL - minutes * MINUTE };
    return createPut(keys.host(getFullName(host)), JSON.stringify(record));
  });
}

function createHistories(): Op[] {
  const locks = [
    ...new Set(CLAIMS.flatMap(({ lock }) => lock ?? [])),
    "dunning",
    "sitemap",
    "vacuum",
    "wal-archive",
  ];
  return locks.map((lock, number) => {
    const chance = new NamedRandom(1, lock);
    const usual = CLAIMS.find((claim) => claim.lock === lock)?.granted ?? 90;
    const every = chance.drawBetween([7, 60]) * MINUTE;
    const runs = Array.from({ length: HISTORY_LENGTH }, (_, index): PastRun => {
      const endedAt = Math.round(WALL - (HISTORY_LENGTH - index - chance.drawUnit() / 2) * every);
      const held = Math.round(usual * chance.drawBetween([600, 2_500]));
      const waited = Math.round(chance.drawUnit() ** 3 * 90_000);
      return {
        run: createRunId(1000 * (number + 1) + index),
        host: getFullName(chance.pickOne(["batch1", "batch2", "web1", "db1"])),
        pid: Math.floor(chance.drawBetween([900, 32_000])),
        command: `${lock}.sh`,
        token: String(index + 2),
        enqueuedAt: endedAt - held - waited,
        grantedAt: endedAt - held,
        endedAt,
        waited,
        held,
        exit: chance.drawUnit() < 0.1 ? chance.pickOne([1, 2, 137]) : 0,
      };
    });
    const text = runs.reduce<string | undefined>((before, past) => appendPastRun(before, past), undefined);
    return createPut(keys.history(lock), text ?? "");
  });
}

type AuditSample = readonly [
  minutes: number,
  user: string,
  action: AuditRecord["action"],
  target: string,
  reason: string,
  outcome: string,
];

const DEEDS: readonly AuditSample[] = [
  [4_440, "ann", "drain", "host db2.example.com", "new disks", "drained"],
  [4_380, "ann", "undrain", "host db2.example.com", "disks are in", "undrained"],
  [3_061, "bob", "reset", "lock video-transcode", "stuck for an hour", "ended, the next one was granted"],
  [1_822, "carol", "resource", "resource db", "the new replica", "total 8 → 10"],
  [1_690, "bob", "group", "group web", "web4 is bought", "+ web4.example.com"],
  [371, "ann", "reset", "lock report-taxes", "wrong month", "ended, the next one was granted"],
  [15, "carol", "drain", "lock invoices", "month-end closing", "drained for 2h"],
  [14, "ann", "drain", "group mail", "kernel upgrade", "drained"],
];

function createAudits(): Op[] {
  return DEEDS.map(([minutes, user, action, target, reason, outcome], index) => {
    const at = WALL - minutes * MINUTE;
    const id = `${formatAuditTime(at)}${"0".repeat(9)}${index}`;
    const record = { id, at, user, host: "ops1.example.com", action, target, reason, outcome };
    return createPut(keys.audit(id), serializeAuditRecord({ ...record, seen: BigInt(index + 1) }));
  });
}

/** Creates the tickets of a claim for one transaction. A waiter for a lock has no tickets for resources yet. */
function createTickets(claim: SceneClaim, index: number, session: bigint): PutOp[] {
  const { lock, leases = {}, lacks, granted } = claim;
  const run = createRunId(index);
  const getTicketState = (resource?: string): Ticket["state"] => {
    if (granted !== undefined) return "held";
    return lacks === undefined || resource === lacks ? "waiting" : "admitted";
  };
  const formatTicket = (more: Pick<Ticket, "count" | "total" | "state">) =>
    serializeTicket({ ...describeRun(claim, run), ...more });
  const onLock =
    lock === undefined
      ? []
      : [[keys.lock(lock, run), formatTicket({ count: 1, total: 1, state: getTicketState() })] as const];
  const onResources = Object.entries(leases).map(([resource, count]) => {
    const total = getTotal(resource);
    return [
      keys.resource(resource, run),
      formatTicket({ count, total, state: getTicketState(resource) }),
    ] as const;
  });
  return [...onLock, ...onResources].map(([key, text]) => ({ ...createPut(key, text), session }));
}

function describeRun({ lock, host, pid, queued, granted, label }: SceneClaim, run: string) {
  return {
    run,
    host: getFullName(host),
    pid,
    user: "deploy",
    command: `${lock ?? "cad-render"}.sh`,
    enqueuedAt: WALL - queued * 1000,
    ...(granted !== undefined && { grantedAt: WALL - granted * 1000 }),
    ...(label !== undefined && { label }),
  };
}

function getTotal(resource: string): number {
  const [total] = TOTALS[resource] ?? [];
  if (typeof total === "number") return total;
  const [host = "", what] = resource.split(/\.example\.com_/);
  const [cores = 1, ram = 1] = HOSTS[host] ?? [];
  return what === "cpu" ? cores : ram;
}

function createDrains(): Op[] {
  const formatOperator = (user: string) => `${user}@ops1.example.com`;
  const ended = {
    by: formatOperator("bob"),
    at: WALL - 26 * HOUR,
    until: WALL - 25 * HOUR,
    why: "zone transfer",
  };
  const closing = {
    by: formatOperator("carol"),
    at: WALL - 15 * MINUTE,
    until: WALL + 105 * MINUTE,
    why: "month-end closing",
  };
  const upgrade = { by: formatOperator("ann"), at: WALL - 14 * MINUTE, why: "kernel upgrade" };
  return [
    createPut(keys.drain("lock", "dns-sync"), serializeDrain(ended)),
    createPut(keys.drain("lock", "invoices"), serializeDrain(closing)),
    createPut(keys.drain("group", "mail"), serializeDrain(upgrade)),
  ];
}
