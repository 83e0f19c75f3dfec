import { generateRunId } from "../../src/core/base/ids.ts";
import type { Store } from "../../src/core/etcd/store.ts";
import { realRandom } from "../../src/core/process/random.ts";
import { type AuditRecord, generateAuditId, serializeAuditRecord } from "../../src/core/protocol/audit.ts";
import { appendPastRun, HISTORY_LENGTH, type PastRun } from "../../src/core/protocol/history.ts";
import { createKeys } from "../../src/core/protocol/keys.ts";
import { serializeTicket } from "../../src/core/protocol/ticket.ts";
import type { Op } from "../../src/core/protocol/txn.ts";
import { listDemoHosts } from "./hosts.ts";
import { type DemoJob, JOBS } from "./jobs.ts";
import { NamedRandom } from "./named-random.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Value of `--timeout` for jobs that have one, ms. */
const LIMIT = 20_000;
const keys = createKeys("/signalbox/");

/** Writes the past of the site: histories of all locks, and actions of operators in the last days. */
export async function writeHistory(store: Store, seed: number): Promise<void> {
  const now = Date.now();
  const histories = JOBS.filter(({ isLockless }) => !isLockless).map((job): Op => {
    const runs = createPastRuns(job, new NamedRandom(seed, `past of ${job.name}`), now);
    const value = runs.reduce<string | undefined>((text, past) => appendPastRun(text, past), undefined) ?? "";
    return { op: "put", key: keys.history(job.name), value };
  });
  const audits = AUDITS.map(([hours, sudoUser, action, target, reason, outcome], index): Op => {
    const at = now - hours * HOUR;
    const id = generateAuditId(at, realRandom);
    const record = {
      id,
      at,
      user: "root",
      sudoUser,
      host: "ops1.example.com",
      action,
      target,
      reason,
      outcome,
    };
    return {
      op: "put",
      key: keys.audit(id),
      value: serializeAuditRecord({ ...record, seen: BigInt(1000 + index) }),
    };
  });
  await store.commitTxn({ compare: [], success: [...histories, ...audits], failure: [] });
}

/** Creates past runs, oldest first. */
function createPastRuns(job: DemoJob, chance: NamedRandom, now: number): PastRun[] {
  const every = chance.drawBetween([4, 45]) * MINUTE;
  return Array.from({ length: HISTORY_LENGTH }, (_, index) => {
    const lasts = Math.round(chance.drawBetween(job.lasts) * 1000);
    const isOverdue = job.flags.includes("--timeout") && lasts > LIMIT;
    const held = isOverdue ? LIMIT + 8 : lasts;
    const waited = job.isPatient
      ? Math.round(chance.drawUnit() ** 3 * 90_000)
      : Math.round(chance.drawUnit() * 20);
    const endedAt = Math.round(now - (HISTORY_LENGTH - index - chance.drawUnit() / 2) * every);
    const exit = isOverdue ? 124 : chance.drawUnit() < job.failing ? chance.pickOne([1, 1, 2, 70, 137]) : 0;
    return {
      run: generateRunId(realRandom),
      host: chance.pickOne(listDemoHosts(job.hosts)),
      pid: Math.floor(chance.drawBetween([900, 32_000])),
      command: `${job.name}.sh`,
      token: String(100 + index * 17 + Math.floor(chance.drawUnit() * 16)),
      enqueuedAt: endedAt - held - waited,
      grantedAt: endedAt - held,
      endedAt,
      waited,
      held,
      exit,
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
  [28, "bob", "reset", "run of lock search-index", "asked for the wrong index", "left its queues"],
  [27, "bob", "drain", "all", "etcd upgrade", "drained"],
  [26, "bob", "undrain", "all", "etcd is new", "undrained"],
  [6, "ann", "reset", "lock report-taxes", "wrong month", "ended, the next one was granted"],
];

/** Time to live of the session of the frozen runner, s. */
const STALE_TTL = 90;
const STALE_SESSION = 4_711n;

/**
 * Writes two problems: a lock that a frozen runner has held since yesterday, and an unreadable ticket ahead of a waiter.
 * @returns a function that stops renewing the session of the frozen runner
 */
export async function writeTroubles(store: Store): Promise<() => void> {
  await store.grant(STALE_SESSION, STALE_TTL);
  const at = Date.now() - 26 * HOUR;
  const stale = generateRunId(realRandom);
  const value = serializeTicket({
    run: stale,
    host: "batch3.example.com",
    pid: 4711,
    user: "etl",
    count: 1,
    total: 1,
    state: "held",
    command: "legacy-sync.sh",
    enqueuedAt: at - 40,
    grantedAt: at,
    label: "frozen since yesterday",
  });
  const strange = "{ this was put by hand";
  await store.commitTxn({
    compare: [],
    success: [
      { op: "put", key: keys.lock("legacy-sync", stale), value, session: STALE_SESSION },
      { op: "put", key: keys.lock("legacy-import", generateRunId(realRandom)), value: strange },
    ],
    failure: [],
  });
  const renewal = setInterval(() => void store.renew(STALE_SESSION).catch(() => {}), (STALE_TTL * 1000) / 3);
  return () => clearInterval(renewal);
}
