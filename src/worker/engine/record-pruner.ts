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
 * Deletes audit records and histories that have expired. One worker does it in each period, another one in the next, so that
 * workers that cannot do it, for their version or their role, do not keep the others from it. If two do it at once, each
 * deletes what the other has not.
 */
export class RecordPruner {
  readonly #ports: SchedulePorts;
  readonly #context: PrunerContext;
  readonly #every: number;
  /** What the role of this worker does not allow to delete. */
  readonly #refused = new Set<ExpiringKind>();

  constructor(ports: SchedulePorts, context: PrunerContext) {
    this.#ports = ports;
    this.#context = context;
    this.#every = context.every ?? EVERY;
  }

  /** Makes passes until the signal is aborted. @throws the signal's reason */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#ports;
    for (let wait = this.#every * random.generateFraction(); ; ) {
      await clock.sleep(wait, signal);
      const isDone = !this.#isOnDuty() || (await this.#prune(signal));
      wait = isDone ? this.#every : Math.min(SOON, this.#every);
    }
  }

  /** Returns whether it is this worker's turn. */
  #isOnDuty(): boolean {
    const { id, workers } = this.#context;
    const period = Math.floor(this.#ports.clock.getWallTime() / this.#every);
    const present = [...workers].filter(([, record]) => record && !record.isJoining && !record.isLeaving);
    return (
      listWorkersBefore(
        id,
        present.map(([worker]) => worker),
        `retention ${period}`,
      ).length === 0
    );
  }

  /** @returns false if something is left for the next pass, which should be soon */
  async #prune(signal: AbortSignal): Promise<boolean> {
    if (!(await this.#canJudgeAges(signal))) return true;
    let isDone = true;
    for (const kind of EXPIRING_KINDS) {
      if (!this.#refused.has(kind)) isDone = (await this.#pruneKind(kind, signal)) && isDone;
    }
    return isDone;
  }

  async #canJudgeAges(signal: AbortSignal): Promise<boolean> {
    const { isClockRight, readMemberClocks = async () => [] } = this.#context;
    const offsets = await readMemberClocks(signal).catch(() => []);
    signal.throwIfAborted();
    const apart = offsets.filter((offset) => computeClockDistance(offset) > CLOCK_LIMIT);
    return isClockRight() && apart.length * 2 <= offsets.length;
  }

  async #pruneKind(kind: ExpiringKind, signal: AbortSignal): Promise<boolean> {
    const { log } = this.#ports;
    try {
      const expired = await readExpired(this.#ports, kind, this.#context.limits, signal);
      const deleted = await deleteExpired(this.#ports, expired.list(), signal);
      if (deleted > 0) log.info("expired records deleted", { kind, records: deleted });
      return !expired.isCut;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StoreError)) throw error;
      this.#reportFailure(kind, error);
      return error.kind !== "compacted";
    }
  }

  #reportFailure(kind: ExpiringKind, error: StoreError): void {
    const { log } = this.#ports;
    if (error.kind !== "permission")
      return log.warn("expired records stay until the next pass", { kind, error: error.message });
    this.#refused.add(kind);
    log.info("this worker's role does not allow to delete expired records; see: signalbox prune --expired", {
      kind,
    });
  }
}
