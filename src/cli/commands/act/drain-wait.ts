import {
  addMs,
  formatDuration,
  LONG_AGO,
  type Millis,
  type MonotonicTime,
  NEVER,
  NO_LONGER_NEEDED,
  subtractTime,
} from "../../../core/base/clock.ts";
import { isUnavailable } from "../../../core/etcd/store.ts";
import { type DrainTarget, formatAuditTarget, hasEnded } from "../../../core/protocol/drain.ts";
import { guardRevision } from "../../../core/protocol/guards.ts";
import { parseTicket } from "../../../core/protocol/ticket.ts";
import type { KeyValue } from "../../../core/protocol/txn.ts";
import { type FollowEvent, followEtcd } from "../../../site/observe/follow.ts";
import { requestResets } from "../../../site/operate/reset.ts";
import type { Claim } from "../../../site/state/claims.ts";
import {
  computeDrainExtent,
  coversTasks,
  findDrainsOfTarget,
  listHeldEntries,
  listHeldKeys,
  listLostTasks,
} from "../../../site/state/drain-extent.ts";
import { SnapshotBuilder } from "../../../site/state/snapshot-builder.ts";
import { readSnapshot, SCOPE_COLLECTIONS } from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { formatClaimOwners } from "../../views/drain-extent.ts";
import { describeDrainTarget } from "../../views/drain-lines.ts";
import type { DrainFlags } from "./drain.ts";

/**
 * The end of a wait: the scope is empty, the time is up, or the drain was lifted or has ended by itself. `holders`
 * lists the last known holders that remain.
 */
interface DrainWaitResult {
  kind: "empty" | "timeout" | "lifted";
  holders: readonly Claim[];
}

interface DrainWaitRequest {
  target: DrainTarget;
  /** The holders when the drain was written. The watcher reads them again at once. */
  holders: readonly Claim[];
  /** Undefined waits without a limit. */
  deadline?: MonotonicTime | undefined;
  /** Runs to ignore: when only these remain, the result is `timeout`. */
  spared?: ReadonlySet<string>;
}

/** Between two tries while etcd is unavailable, in ms. */
const RETRY_PAUSE_MS = 500;

/** Every change is reported when at most `MAX_TICKETS_TOLD_AT_ONCE` tickets remain, otherwise at most once per `TELL_EVERY` ms. */
const MAX_TICKETS_TOLD_AT_ONCE = 5;
const TELL_EVERY = 1_000;

/** The first read gets at least this long, in ms, even if the deadline is shorter. */
const FIRST_LOOK = 1_000;

/**
 * Waits until nothing in the scope of a drain is held. Groups decide which hosts are in scope, and may change
 * meanwhile. It reports the remaining holders. While etcd is unavailable, it reports that and continues.
 */
async function watchDrain(context: CommandContext, waiting: DrainWaitRequest): Promise<DrainWaitResult> {
  /** Aborted when the deadline passes or the drain ends by itself. */
  let alarm = new AbortController();
  let timer = new AbortController();
  let hasLooked = false;
  /** Keys of the held tickets, and of tasks. While these disappear one by one, nothing else needs to be read. */
  let held = new Set<string>();
  /** The number of holders in the last report, and its time. */
  let told = -1;
  let toldAt = LONG_AGO;
  let isAway = false;
  /** When a vanished ticket or task was first seen, by the key of its mark or its run: reading of the clock, ms. */
  const vanishedSince = new Map<string, MonotonicTime>();
  let known = waiting.holders;
  const tasks = coversTasks(waiting.target) ? (["dues"] as const) : []; // of 100,000 schedules, it may be much
  const builder = new SnapshotBuilder(context.keys, [...SCOPE_COLLECTIONS, ...tasks]);

  try {
    return await retry();
  } finally {
    timer.abort(NO_LONGER_NEEDED);
  }

  async function retry(): Promise<DrainWaitResult> {
    const { clock, signal } = context;
    for (;;) {
      alarm = new AbortController();
      setAlarm(Math.max(computeTimeLeft(), hasLooked ? 0 : FIRST_LOOK));
      try {
        return await watch(AbortSignal.any([signal, alarm.signal]));
      } catch (error) {
        signal.throwIfAborted();
        const isRung = alarm.signal.aborted; // the drain may have ended instead: read again
        if (!isRung && !isUnavailable(error)) throw error;
        if (!isRung) {
          reportAway(error as Error);
          await clock.sleep(Math.max(0, Math.min(RETRY_PAUSE_MS, computeTimeLeft())), signal);
        }
        if (computeTimeLeft() <= 0) return { kind: "timeout", holders: listRemaining() };
      }
    }
  }

  async function watch(signal: AbortSignal): Promise<DrainWaitResult> {
    for await (const news of followEtcd(context, builder, signal)) {
      const verdict = onNews(news);
      if (verdict !== undefined) return verdict;
    }
    throw new Error("the watch of etcd ended without an error");
  }

  function onNews(news: FollowEvent): DrainWaitResult | undefined {
    if (news.kind === "away") return reportAway(news.error);
    if (isAway) context.printMessage("etcd is reachable again");
    isAway = false;
    if (news.kind === "read") return judge();
    const { keys } = context;
    const decisive = [keys.drains(), keys.groups()];
    let isUnclear = false;
    for (const event of news.batch.events) {
      const key = event.type === "put" ? event.kv.key : event.key;
      if (decisive.some((range) => key >= range.key && key < range.rangeEnd)) isUnclear = true;
      if (event.type === "delete" || !canHold(event.kv)) held.delete(key);
    }
    if (isUnclear || held.size === 0) return judge();
    reportRemaining();
    return undefined;
  }

  function judge(): DrainWaitResult | undefined {
    const { clock } = context;
    const { target } = waiting;
    const snapshot = builder.getSnapshot();
    const extent = computeDrainExtent(snapshot, target, clock.getWallTime());
    const all = [...extent.holders, ...listLostTasks(snapshot, target)];
    const times = all.map((claim) => measureTimeToEnd(claim));
    const holders = all.filter((_, at) => (times[at] ?? 0) > 0);
    const drains = findDrainsOfTarget(snapshot, target).filter(
      (drain) => !hasEnded(drain, clock.getWallTime()),
    );
    if (drains.length === 0) return { kind: "lifted", holders };
    if (holders.length === 0) return { kind: "empty", holders };
    const awaited = holders.filter(({ run }) => !waiting.spared?.has(run));
    if (awaited.length === 0) return { kind: "timeout", holders };
    const isNew = !hasLooked || holders.length !== told;
    hasLooked = true;
    known = holders;
    held = new Set(awaited.flatMap(listHeldKeys));
    if (isNew) reportHolders(holders);
    const ends = drains.map(({ until = Number.POSITIVE_INFINITY }) => until - clock.getWallTime() + 1);
    setAlarm(Math.min(computeTimeLeft(), Math.max(...ends), ...times.filter((ms) => ms > 0)));
    return undefined;
  }

  /**
   * Measures for how long the command of a holder may still be running: if all its tickets have vanished, or the
   * running key of its task, for their time to live from when that was seen.
   */
  function measureTimeToEnd(claim: Claim): Millis {
    const now = context.clock.now();
    const { run, lost } = claim;
    const held = lost === undefined ? listHeldEntries(claim) : [{ key: run, vanished: lost }];
    const times = held.map(({ key, vanished }) => {
      if (vanished === undefined) return Number.POSITIVE_INFINITY;
      const since = vanishedSince.get(key) ?? now;
      vanishedSince.set(key, since);
      return subtractTime(addMs(since, vanished.ttl * 1000), now);
    });
    return times.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...times);
  }

  /** Lists the known holders that still hold a ticket. */
  function listRemaining(): readonly Claim[] {
    if (!hasLooked) return known;
    return known.filter((claim) => listHeldKeys(claim).some((key) => held.has(key)));
  }

  /** Reports the remaining holders, but not each of thousands. */
  function reportRemaining(): void {
    if (subtractTime(context.clock.now(), toldAt) < TELL_EVERY && held.size > MAX_TICKETS_TOLD_AT_ONCE)
      return;
    const remaining = listRemaining();
    if (remaining.length !== told) reportHolders(remaining);
  }

  function reportHolders(holders: readonly Claim[]): void {
    told = holders.length;
    toldAt = context.clock.now();
    context.printMessage(`waiting for ${formatHolders(holders)}`);
  }

  function reportAway(error: Error): undefined {
    if (!isAway) context.printMessage(`etcd is unreachable (${error.message}); waiting for it`);
    isAway = true;
  }

  /** Replaces the alarm that was set before. */
  function setAlarm(ms: Millis): void {
    timer.abort(NO_LONGER_NEEDED);
    if (!Number.isFinite(ms)) return;
    timer = new AbortController();
    const bell = alarm;
    const abortAlarm = () => bell.abort(NO_LONGER_NEEDED);
    context.clock.sleep(Math.max(0, ms), timer.signal).then(abortAlarm, () => {});
  }

  function computeTimeLeft(): Millis {
    return subtractTime(waiting.deadline ?? NEVER, context.clock.now());
  }
}

/** Checks whether a ticket can be a holder's. As in `computeDrainExtent`, a ticket that cannot be read can. */
function canHold({ value }: KeyValue): boolean {
  const ticket = parseTicket(value);
  return ticket === undefined || ticket.state === "held";
}

interface DrainWaitOptions {
  target: DrainTarget;
  /** The holders in the last snapshot. */
  holders: readonly Claim[];
  /** Runs that `--reset` may end; undefined for all that remain. */
  shown: ReadonlySet<string> | undefined;
  /** Adds the outcome to the audit record of the drain, unless the drain existed before. */
  record(outcome: string): Promise<void>;
}

/**
 * Implements `drain --wait`: waits until nothing in the scope is held. With `--reset`, ends the remaining holders after
 * the timeout.
 * @returns the result of the wait, with a line for the user
 * @throws InterruptedError; StoreError if etcd refuses the reads
 */
export async function waitForDrain(
  context: CommandContext<DrainFlags>,
  options: DrainWaitOptions,
): Promise<DrainWaitResult & { line: string }> {
  const { target, holders } = options;
  const { clock } = context;
  const { reset, timeout } = context.flags;
  const start = clock.now();
  const formatElapsed = () => formatDuration(Math.round(subtractTime(clock.now(), start) / 100) * 100);
  const deadline = timeout === undefined ? undefined : addMs(start, timeout);
  let result = await watchDrain(context, { target, deadline, holders });
  let asked = 0;
  if (result.kind === "timeout" && reset) {
    const ended = await retryReset(context, options, formatElapsed);
    const spared = new Set(ended.spared.map(({ run }) => run));
    result = await watchDrain(context, { target, holders: result.holders, spared });
    asked = ended.asked.size;
  }
  const { line, outcome } = describeResult(result, { target, asked, took: formatElapsed() });
  await options.record(outcome);
  return { ...result, line };
}

/** Asks the remaining holders to end, as soon as etcd answers. */
async function retryReset(
  context: CommandContext<DrainFlags>,
  options: DrainWaitOptions,
  formatElapsed: () => string,
): Promise<HolderResetResult> {
  const { clock, printMessage, signal } = context;
  for (let isAway = false; ; ) {
    try {
      const ended = await resetHolders(context, options);
      const { size } = ended.asked;
      if (isAway) printMessage("etcd is reachable again");
      printMessage(`${size} ${size === 1 ? "run was" : "runs were"} asked to end after ${formatElapsed()}`);
      if (ended.spared.length > 0)
        printMessage(
          `not ended, because not shown before: ${formatClaimOwners(ended.spared)}; run the command again to end them`,
        );
      return ended;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (!isAway)
        printMessage("etcd is unreachable; the remaining runs are ended when it is reachable again");
      isAway = true;
      await clock.sleep(RETRY_PAUSE_MS, signal);
    }
  }
}

/** @returns a line for the user, and the outcome for the audit */
function describeResult(
  { kind, holders }: DrainWaitResult,
  { target, asked, took }: { target: DrainTarget; asked: number; took: string },
): { line: string; outcome: string } {
  const name = describeDrainTarget(target);
  const ended = asked === 0 ? "" : `, ${asked} ended by a reset`;
  switch (kind) {
    case "empty":
      return {
        line: `${name} is drained, and nobody holds anything there, after ${took}${ended}`,
        outcome: `empty after ${took}${ended}`,
      };
    case "timeout":
      return {
        line: `${name} is drained, but not empty after ${took}: held by ${formatHolders(holders)}`,
        outcome: `${holders.length} still held after ${took}`,
      };
    case "lifted":
      return {
        line: `the drain of ${name} was lifted or has ended before everything was released: held by ${formatHolders(holders)}`,
        outcome: `lifted or ended after ${took}, ${holders.length} still held`,
      };
  }
}

function formatHolders(holders: readonly Claim[]): string {
  if (holders.length === 0) return "nobody";
  return holders.length === 1
    ? formatClaimOwners(holders)
    : `${holders.length}: ${formatClaimOwners(holders)}`;
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
  context: CommandContext<DrainFlags>,
  { target, shown }: DrainWaitOptions,
): Promise<HolderResetResult> {
  const { reason } = context.flags;
  const asked = new Set<string>();
  for (;;) {
    const wall = context.clock.getWallTime();
    const snapshot = await readSnapshot(context, SCOPE_COLLECTIONS);
    const [drain] = findDrainsOfTarget(snapshot, target).filter((one) => !hasEnded(one, wall));
    if (drain === undefined) return { asked, spared: [] };
    const { holders } = computeDrainExtent(snapshot, target, wall);
    const isMeant = ({ run }: Claim) => shown === undefined || shown.has(run);
    const held = holders.filter(isMeant).flatMap(listHeldEntries);
    const entries = held.filter(({ ticket }) => ticket !== undefined && ticket.reset === undefined);
    for (const { run } of entries) asked.add(run);
    const eviction = { target: formatAuditTarget(target), entries, seen: snapshot.revision, reason };
    const compare = [guardRevision(drain.key, drain.modRevision)];
    const receipt = await requestResets(context, { action: "drain", ...eviction, compare });
    // Changed: a holder has just ended, or the drain was written. Read again.
    if (receipt?.kind === "changed") continue;
    // No reset ends a task without tickets: all of them are waited for.
    return { asked, spared: holders.filter((one) => !isMeant(one) && one.entries.length > 0) };
  }
}
