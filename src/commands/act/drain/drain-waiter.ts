import { formatDuration } from "../../../base/duration.ts";
import { isUnavailable } from "../../../etcd/retry.ts";
import {
  computeDrainExtent,
  findDrainsOfTarget,
  listHeldEntries,
} from "../../../model/preview/drain-extent.ts";
import { describeDrainTarget, formatClaimOwners } from "../../../model/preview/drain-extent-text.ts";
import type { Claim } from "../../../model/snapshot/claims.ts";
import { type ActionResult, updateAuditOutcome } from "../../../operate/operator-action.ts";
import { requestResets } from "../../../operate/reset.ts";
import type { AuditRecord } from "../../../protocol/audit.ts";
import { type DrainTarget, formatAuditTarget, hasEnded } from "../../../protocol/drain.ts";
import { guardRevision } from "../../../protocol/guards.ts";
import type { QueueEntry } from "../../../protocol/ticket.ts";
import { parseDurationFlag, parseReasonFlag } from "../../command-line/flags.ts";
import { readSnapshot, SCOPE_COLLECTIONS } from "../../read-snapshot.ts";
import { type ActionContext, type CommandContext, InterruptedError } from "../../store-command.ts";
import { type DrainWaitNews, type DrainWaitResult, waitUntilEmpty } from "../drain-wait.ts";

export interface DrainWaitOptions {
  target: DrainTarget;
  /** The holders in the last snapshot. */
  holders: readonly Claim[];
  /** Runs that `--reset` may end; undefined for all that remain. */
  shown: ReadonlySet<string> | undefined;
  /**
   * The result of writing the drain. The outcome is added to its audit record. Undefined if the drain existed before.
   */
  receipt: ActionResult | undefined;
}

/** The result of the wait, with lines for the user. */
export interface DrainWaitReport extends DrainWaitResult {
  lines: readonly string[];
}

const PAUSE = 500;
/** Longest wait for the write of the audit record, in ms. */
const RECORD_WITHIN = 2_000;

/**
 * Implements `drain --wait`: waits until nothing in the scope is held. With `--reset`, ends the remaining holders after
 * the timeout.
 */
export class DrainWaiter {
  readonly #context: ActionContext;
  readonly #order: DrainWaitOptions;
  readonly #start: number;

  constructor(context: ActionContext, order: DrainWaitOptions) {
    this.#context = context;
    this.#order = order;
    this.#start = context.clock.now();
  }

  /** @throws InterruptedError after it has reported that the drain stays; StoreError if etcd refuses the reads */
  async run(): Promise<DrainWaitReport> {
    try {
      const { call } = this.#context;
      const timeout = parseDurationFlag(call, "timeout");
      const deadline = timeout === undefined ? undefined : this.#start + timeout;
      const first = await this.#wait(deadline, this.#order.holders);
      if (first.kind !== "timeout" || !call.flags.reset) return await this.#conclude(first);
      const { asked, spared } = await this.#reset();
      return await this.#conclude(await this.#wait(undefined, first.holders, spared), asked.size);
    } catch (error) {
      if (error instanceof InterruptedError)
        this.#context.printMessage(`no longer waiting; ${this.#formatTarget()} stays drained`);
      throw error;
    }
  }

  #wait(
    deadline: number | undefined,
    holders: readonly Claim[],
    spared: readonly Claim[] = [],
  ): Promise<DrainWaitResult> {
    return waitUntilEmpty(this.#context, {
      target: this.#order.target,
      deadline,
      holders,
      spared: new Set(spared.map(({ run }) => run)),
      reportNews: (news) => this.#reportNews(news),
    });
  }

  #reportNews(news: DrainWaitNews): void {
    if (news.kind === "away")
      this.#context.printMessage(`etcd is unreachable (${news.error.message}); waiting for it`);
    if (news.kind === "back") this.#context.printMessage("etcd is reachable again");
    if (news.kind === "holders") this.#context.printMessage(`waiting for ${formatHolders(news.holders)}`);
  }

  async #reset(): Promise<HolderResetResult> {
    const { target, shown } = this.#order;
    const reason = parseReasonFlag(this.#context.call);
    for (let isAway = false; ; ) {
      try {
        const ended = await resetHolders(this.#context, { target, reason, shown });
        const { size } = ended.asked;
        if (isAway) this.#context.printMessage("etcd is reachable again");
        this.#context.printMessage(
          `${size} ${size === 1 ? "run was" : "runs were"} asked to end after ${this.#formatElapsed()}`,
        );
        if (ended.spared.length > 0)
          this.#context.printMessage(
            `not ended, because not shown before: ${formatClaimOwners(ended.spared)}; run the command again to end them`,
          );
        return ended;
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        if (!isAway)
          this.#context.printMessage(
            "etcd is unreachable; the remaining runs are ended when it is reachable again",
          );
        isAway = true;
        await this.#context.clock.sleep(PAUSE, this.#context.signal);
      }
    }
  }

  async #conclude(emptying: DrainWaitResult, asked = 0): Promise<DrainWaitReport> {
    const { receipt } = this.#order;
    const [line, outcome] = this.#describeResult(emptying, asked);
    if (receipt?.kind === "done") await this.#record(receipt.record, outcome);
    return { ...emptying, lines: [line] };
  }

  /** Adds the outcome to the audit record. If etcd is unavailable, the record keeps "drained", which is true. */
  async #record(record: AuditRecord, outcome: string): Promise<void> {
    const told = updateAuditOutcome(this.#context, record, outcome).catch((error) => {
      if (!isUnavailable(error)) throw error;
    });
    await Promise.race([told, this.#context.clock.sleep(RECORD_WITHIN)]);
  }

  #describeResult({ kind, holders }: DrainWaitResult, asked: number): [line: string, outcome: string] {
    const ended = asked === 0 ? "" : `, ${asked} ended by a reset`;
    switch (kind) {
      case "empty":
        return [
          `${this.#formatTarget()} is drained, and nobody holds anything there, after ${this.#formatElapsed()}${ended}`,
          `empty after ${this.#formatElapsed()}${ended}`,
        ];
      case "timeout":
        return [
          `${this.#formatTarget()} is drained, but not empty after ${this.#formatElapsed()}: held by ${formatHolders(holders)}`,
          `${holders.length} still held after ${this.#formatElapsed()}`,
        ];
      case "lifted":
        return [
          `the drain of ${this.#formatTarget()} was lifted or has ended before everything was released: held by ${formatHolders(holders)}`,
          `lifted or ended after ${this.#formatElapsed()}, ${holders.length} still held`,
        ];
    }
  }

  #formatTarget(): string {
    return describeDrainTarget(this.#order.target);
  }

  #formatElapsed(): string {
    return formatDuration(Math.round((this.#context.clock.now() - this.#start) / 100) * 100);
  }
}

function formatHolders(holders: readonly Claim[]): string {
  if (holders.length === 0) return "nobody";
  return holders.length === 1
    ? formatClaimOwners(holders)
    : `${holders.length}: ${formatClaimOwners(holders)}`;
}

/** A request to end the holders in the scope of a drain. */
interface HolderResetRequest {
  target: DrainTarget;
  reason: string | undefined;
  /** Runs that may be ended; undefined for all. */
  shown: ReadonlySet<string> | undefined;
}

/** Runs that were asked to end (`asked`), and holders that were not shown when the user gave the order (`spared`). */
interface HolderResetResult {
  asked: ReadonlySet<string>;
  spared: readonly Claim[];
}

/**
 * Asks the holders in a drained scope to end, once each. Tickets that cannot be read are skipped. If the drain was
 * lifted, no run is asked: its holders may have come after it.
 * @throws SignalboxError 77, StoreError
 */
async function resetHolders(
  context: CommandContext,
  { target, reason, shown }: HolderResetRequest,
): Promise<HolderResetResult> {
  const asked = new Set<string>();
  for (;;) {
    const wall = context.clock.getWallTime();
    const snapshot = await readSnapshot(context, SCOPE_COLLECTIONS);
    const [drain] = findDrainsOfTarget(snapshot, target).filter((one) => !hasEnded(one, wall));
    if (drain === undefined) return { asked, spared: [] };
    const { holders } = computeDrainExtent(snapshot, target, wall);
    const isMeant = ({ run }: Claim) => shown === undefined || shown.has(run);
    const entries = holders.filter(isMeant).flatMap(listHeldEntries).filter(isToBeAsked);
    for (const { run } of entries) asked.add(run);
    const eviction = { target: formatAuditTarget(target), places: entries, seen: snapshot.revision, reason };
    const compare = [guardRevision(drain.key, drain.modRevision)];
    const receipt = await requestResets(context, { action: "drain", ...eviction, compare });
    // Changed: a holder has just ended, or the drain was written. Read again.
    if (receipt?.kind !== "changed") return { asked, spared: holders.filter((one) => !isMeant(one)) };
  }
}

function isToBeAsked({ ticket }: QueueEntry): boolean {
  return ticket !== undefined && ticket.reset === undefined;
}
