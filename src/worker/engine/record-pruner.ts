import { type ClockOffset, computeClockDistance } from "../../check/clock.ts";
import { StoreError } from "../../etcd/store.ts";
import {
  deleteExpired,
  EXPIRING_KINDS,
  type ExpiringKind,
  type RetentionLimits,
  readExpired,
} from "../../operate/retention.ts";
import { listWorkersBefore } from "../../schedule/hash.ts";
import type { WorkerRecord } from "../../schedule/state/worker-record.ts";
import type { SchedulePorts } from "../worker-ports.ts";

/** Time between two passes, ms. */
const EVERY = 3_600_000;
/** Time until the next pass if one did not delete all, ms. */
const SOON = 60_000;
/** A clock that is further from those of etcd's members judges no ages, ms. */
const CLOCK_LIMIT = 3_600_000;

/** What a pruner needs to know of its worker. */
interface PrunerContext {
  limits: RetentionLimits;
  id: string;
  workers: ReadonlyMap<string, WorkerRecord | undefined>;
  /** Whether this host's clock agrees with those of other workers. */
  isClockRight: () => boolean;
  readMemberClocks?: ((signal: AbortSignal) => Promise<readonly ClockOffset[]>) | undefined;
  /** ms. Default: one hour. */
  every?: number | undefined;
}

/**
 * Deletes audit records and histories that have expired, until the signal is aborted. One worker does it in each period, another one
 * in the next, so that workers that cannot do it, for their version or their role, do not keep the others from it. If two do it at
 * once, each deletes what the other has not.
 * @throws the signal's reason
 */
export async function pruneRecords(
  ports: SchedulePorts,
  context: PrunerContext,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random } = ports;
  const { every = EVERY } = context;
  /** What the role of this worker does not allow to delete. */
  const refused = new Set<ExpiringKind>();
  for (let wait = every * random.generateFraction(); ; ) {
    await clock.sleep(wait, signal);
    let isDone = true;
    const isOnDuty = isOnDutyIn(context, Math.floor(clock.getWallTime() / every));
    if (isOnDuty && (await canJudgeAges(context, signal)))
      for (const kind of EXPIRING_KINDS)
        if (!refused.has(kind)) isDone = (await pruneKind(ports, context, kind, refused, signal)) && isDone;
    wait = isDone ? every : Math.min(SOON, every);
  }
}

/** Returns whether it is this worker's turn. */
function isOnDutyIn({ id, workers }: PrunerContext, period: number): boolean {
  const present = [...workers].filter(([, record]) => record && !record.isJoining && !record.isLeaving);
  const ids = present.map(([worker]) => worker);
  return listWorkersBefore(id, ids, `retention ${period}`).length === 0;
}

async function canJudgeAges(
  { isClockRight, readMemberClocks = async () => [] }: PrunerContext,
  signal: AbortSignal,
): Promise<boolean> {
  const offsets = await readMemberClocks(signal).catch(() => []);
  signal.throwIfAborted();
  const apart = offsets.filter((offset) => computeClockDistance(offset) > CLOCK_LIMIT);
  return isClockRight() && apart.length * 2 <= offsets.length;
}

/** @returns false if something is left for the next pass, which should be soon */
async function pruneKind(
  ports: SchedulePorts,
  { limits }: PrunerContext,
  kind: ExpiringKind,
  refused: Set<ExpiringKind>,
  signal: AbortSignal,
): Promise<boolean> {
  const { log } = ports;
  try {
    const expired = await readExpired(ports, kind, limits, signal);
    const deleted = await deleteExpired(ports, expired.list(), signal);
    if (deleted > 0) log.info("expired records deleted", { kind, records: deleted });
    return !expired.isCut;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof StoreError)) throw error;
    if (error.kind === "permission") {
      refused.add(kind);
      const what =
        "this worker's role does not allow to delete expired records; see: signalbox prune --expired";
      log.info(what, { kind });
    } else log.warn("expired records stay until the next pass", { kind, error: error.message });
    return error.kind !== "compacted";
  }
}
