import { newRunId } from "../../src/base/ids.ts";
import type { Op, Store } from "../../src/etcd/store.ts";
import { realRandom } from "../../src/process/random.ts";
import { type AuditRecord, auditText, newAuditId } from "../../src/protocol/audit.ts";
import { appended, HISTORY_LENGTH, type PastRun } from "../../src/protocol/history.ts";
import { keysUnder } from "../../src/protocol/keys.ts";
import { ticketText } from "../../src/protocol/ticket.ts";
import { Chance } from "./chance.ts";
import { hostsOf } from "./hosts.ts";
import { JOBS, type Job } from "./jobs.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** What `--timeout` is where a job has one, ms. */
const LIMIT = 20_000;
const keys = keysUnder("/signalbox/");

/** What the site did before anyone looked: histories of all locks, and what operators did in the last days. */
export async function writePast(store: Store, seed: number): Promise<void> {
  const now = Date.now();
  const histories = JOBS.filter(({ isLockless }) => !isLockless).map((job): Op => {
    const runs = pastOf(job, new Chance(seed, `past of ${job.name}`), now);
    const value = runs.reduce<string | undefined>((text, past) => appended(text, past), undefined) ?? "";
    return { op: "put", key: keys.history(job.name), value };
  });
  const audits = AUDITS.map(([hours, sudoUser, action, target, reason, outcome], index): Op => {
    const at = now - hours * HOUR;
    const id = newAuditId(at, realRandom);
    const record = {
      ...{ id, at, user: "root", sudoUser, host: "ops1.example.com", action, target, reason, outcome },
    };
    return { op: "put", key: keys.audit(id), value: auditText({ ...record, seen: BigInt(1000 + index) }) };
  });
  await store.txn({ compare: [], success: [...histories, ...audits], failure: [] });
}

/** Oldest first. */
function pastOf(job: Job, chance: Chance, now: number): PastRun[] {
  const every = chance.between([4, 45]) * MINUTE;
  return Array.from({ length: HISTORY_LENGTH }, (_, index) => {
    const lasts = Math.round(chance.between(job.lasts) * 1000);
    const isOverdue = job.flags.includes("--timeout") && lasts > LIMIT;
    const held = isOverdue ? LIMIT + 8 : lasts;
    const waited = job.isPatient ? Math.round(chance.unit() ** 3 * 90_000) : Math.round(chance.unit() * 20);
    const endedAt = Math.round(now - (HISTORY_LENGTH - index - chance.unit() / 2) * every);
    const exit = isOverdue ? 124 : chance.unit() < job.failing ? chance.one([1, 1, 2, 70, 137]) : 0;
    return {
      ...{ run: newRunId(realRandom), host: chance.one(hostsOf(job.hosts)) },
      ...{ pid: Math.floor(chance.between([900, 32_000])), command: `${job.name}.sh` },
      token: String(100 + index * 17 + Math.floor(chance.unit() * 16)),
      ...{ enqueuedAt: endedAt - held - waited, grantedAt: endedAt - held, endedAt, waited, held, exit },
      ...(isOverdue && { reason: "timeout" }),
    };
  });
}

type Audit = readonly [
  hours: number,
  user: string,
  action: AuditRecord["action"],
  target: string,
  reason: string,
  outcome: string,
];

const AUDITS: readonly Audit[] = [
  [74, "ann", "drain", "host db2.example.com", "new disks", "drained"],
  [73, "ann", "undrain", "host db2.example.com", "disks are in", "undrained"],
  [
    51,
    "bob",
    "reset",
    "lock video-transcode",
    "stuck in ffmpeg for an hour",
    "ended, the next one was granted",
  ],
  [30, "carol", "resource", "resource db", "more for the new replica", "total 8 → 10"],
  [28, "bob", "release", "run of lock search-index", "asked for the wrong index", "left its queues"],
  [27, "bob", "drain", "all", "etcd upgrade", "drained"],
  [26, "bob", "undrain", "all", "etcd is new", "undrained"],
  [6, "ann", "reset", "lock report-taxes", "wrong month", "ended, the next one was granted"],
];

/** How long the session of what is left of a lost runner lives without renewal, s. */
const STALE_TTL = 90;
const STALE_SESSION = 4_711n;

/**
 * What is wrong at the site: a lock that a frozen runner has held since yesterday, and a ticket that nobody can read, ahead of
 * one that waits. @returns lets the session of the first go
 */
export async function writeTroubles(store: Store): Promise<() => void> {
  await store.grant(STALE_SESSION, STALE_TTL);
  const at = Date.now() - 26 * HOUR;
  const stale = newRunId(realRandom);
  const value = ticketText({
    ...{ run: stale, host: "batch3.example.com", pid: 4711, user: "etl", count: 1, total: 1, state: "held" },
    ...{ command: "legacy-sync.sh", enqueuedAt: at - 40, grantedAt: at, label: "frozen since yesterday" },
  });
  const strange = "{ this was put by hand";
  await store.txn({
    compare: [],
    success: [
      { op: "put", key: keys.lock("legacy-sync", stale), value, session: STALE_SESSION },
      { op: "put", key: keys.lock("legacy-import", newRunId(realRandom)), value: strange },
    ],
    failure: [],
  });
  const renewal = setInterval(() => void store.renew(STALE_SESSION).catch(() => {}), (STALE_TTL * 1000) / 3);
  return () => clearInterval(renewal);
}
