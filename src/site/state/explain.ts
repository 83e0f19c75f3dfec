import type { WallTime } from "../../core/base/clock.ts";
import { formatBriefDuration, formatDuration } from "../../core/base/duration.ts";
import { admit, isHolding, sumHeldUnits } from "../../core/protocol/admission.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import type { PastRun } from "../../core/protocol/history.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import {
  describeVanished,
  formatLockName,
  type QueueEntry,
  type ResetRequest,
} from "../../core/protocol/ticket.ts";
import {
  type Claim,
  type ClaimEntry,
  findClaim,
  findClaimTicket,
  formatClaimOwner,
  formatTicketOwner,
  getHeldSince,
  isHolder,
} from "./claims.ts";
import { describeDrainTarget, findPlainTotal, formatReason } from "./eviction-preview.ts";
import {
  isSessionRenewed,
  judgeRunnerLiveness,
  type RunnerLiveness,
  type SessionLiveness,
} from "./liveness.ts";
import type { Snapshot } from "./snapshot.ts";
import { computeSpread, computeTypicalHeld, type DurationSpread } from "./statistics.ts";
import { buildViewContext, listDrainsOnClaim } from "./view-context.ts";

/** The position of one ticket that is not granted yet, and what blocks it. */
export interface ClaimObstacle {
  kind: QueueKind;
  name: string;
  entry: QueueEntry;
  /** Position in the queue, from 1. */
  position: number;
  /** Units requested (`count`), held by other runs (`used`), and available in all (`total`). */
  count: number;
  used: number;
  total: number;
  /** Units that must become free; 0 if the ticket is admitted in this queue. */
  missing: number;
  /** Whether the ticket requests more units than the configured total. */
  isImpossible: boolean;
  /** Entries ahead of it, nearest first. */
  ahead: readonly QueueEntry[];
  /** Entries behind it that hold units. This happens when the total was lowered and raised again. */
  heldBehind: readonly QueueEntry[];
}

/**
 * The state of a run. `ready`: nothing blocks it, and it is about to be granted. `drained`: only drains block it.
 * `impossible`: it requests more than the total, and gives up at its next check. `malformed`: one of its tickets cannot
 * be read.
 */
type ExplanationState = "holds" | "waits" | "ready" | "drained" | "impossible" | "malformed";

/** Why a run waits. */
export interface Explanation {
  claim: Claim;
  state: ExplanationState;
  obstacles: readonly ClaimObstacle[];
  drains: readonly Drain[];
  reset: ResetRequest | undefined;
  /** If nobody holds a lock: the explanation of the first run in its queue, because it blocks all runs behind it. */
  first: Explanation | undefined;
  /** How long the wait for the lock may still take; undefined if too little is known, or if it waits for several. */
  estimate: WaitEstimate | undefined;
}

/** Explains why a run waits. */
export function explain(snapshot: Snapshot, claim: Claim, wall: WallTime): Explanation {
  const own = explainOne(snapshot, claim, wall);
  const first = findFirstInQueue(snapshot, own);
  if (first === undefined) return own;
  const before = explainOne(snapshot, first, wall);
  const isStopped = before.drains.length > 0 || before.state === "waits";
  return { ...own, first: before, ...(isStopped && { estimate: undefined }) };
}

function explainOne(snapshot: Snapshot, { run, entries }: Claim, wall: WallTime): Explanation {
  const isLock = ({ queue }: ClaimEntry) => queue.kind === "lock";
  const claim = {
    run,
    entries: [...entries.filter(isLock), ...entries.filter((claimEntry) => !isLock(claimEntry))],
  };
  const reset = claim.entries.find(({ entry }) => entry.ticket?.reset !== undefined)?.entry.ticket?.reset;
  const known = { claim, reset, first: undefined, estimate: undefined };
  if (claim.entries.some(({ entry }) => entry.ticket === undefined))
    return { ...known, state: "malformed", obstacles: [], drains: [] };
  if (isHolder(claim)) return { ...known, state: "holds", obstacles: [], drains: [] };
  const obstacles = claim.entries.flatMap((claimEntry) => findObstacle(snapshot, claimEntry) ?? []);
  const drains = listDrainsOnClaim(claim, buildViewContext(snapshot, wall));
  const state = computeState(obstacles, drains);
  const [lock, ...others] = listLockObstacles(obstacles);
  if (lock === undefined || others.length > 0 || state !== "waits" || drains.length > 0)
    return { ...known, state, obstacles, drains };
  const history = snapshot.histories.get(lock.name) ?? [];
  const estimate = estimateWait(lock.ahead, history, wall, lock.entry.ticket?.shared);
  return { ...known, state, obstacles, drains, estimate };
}

function computeState(obstacles: readonly ClaimObstacle[], drains: readonly Drain[]): ExplanationState {
  if (obstacles.some(({ isImpossible }) => isImpossible)) return "impossible";
  if (obstacles.some(({ missing }) => missing > 0)) return "waits";
  return drains.length > 0 ? "drained" : "ready";
}

/** Finds what blocks a ticket; undefined if the ticket is held or cannot be read. */
function findObstacle(snapshot: Snapshot, { queue, entry }: ClaimEntry): ClaimObstacle | undefined {
  const { kind, name, entries } = queue;
  const { ticket } = entry;
  if (ticket === undefined || isHolding(entry)) return undefined;
  const admission = admit(entries, entry.run, findConfiguredTotal(snapshot, { queue, entry }));
  if (admission.kind === "gone") return undefined;
  const isWaiting = admission.kind === "waiting";
  const index = entries.indexOf(entry);
  const others = entries.filter((other) => isHolding(other) && other !== entry);
  return {
    kind,
    name,
    entry,
    position: index + 1,
    count: ticket.count,
    total: admission.total,
    used: sumHeldUnits(others),
    missing: isWaiting ? admission.missing : 0,
    isImpossible: admission.kind === "impossible",
    ahead: isWaiting ? admission.ahead : [],
    heldBehind: isWaiting ? entries.slice(index + 1).filter(isHolding) : [],
  };
}

/**
 * Returns the total that applies to a ticket, if one is configured. An expression, or a name with macros, has a
 * different value on each host. A run without a stated total stores the value for its host in its ticket.
 */
function findConfiguredTotal(snapshot: Snapshot, { queue: { kind, name }, entry: { ticket } }: ClaimEntry) {
  if (kind === "lock") return 1;
  const plain = findPlainTotal(snapshot, name);
  if (plain !== undefined || ticket === undefined || ticket.isStated) return plain;
  const isExpression = snapshot.resources.get(name)?.value?.total !== undefined;
  const isByMacro = [...snapshot.resources.keys()].some((other) => /[A-Z]/.test(other));
  return isExpression || isByMacro ? ticket.total : undefined;
}

/** Returns the first run in the queue of a lock that a run waits for and nobody holds; undefined if all are held. */
function findFirstInQueue(snapshot: Snapshot, { obstacles }: Explanation): Claim | undefined {
  const free = listLockObstacles(obstacles).find(({ ahead }) => !ahead.some(isHolding));
  const first = free?.ahead.at(-1);
  return first === undefined ? undefined : findClaim(snapshot, first.run);
}

/** Lists the locks that a run waits for. */
function listLockObstacles(obstacles: readonly ClaimObstacle[]): readonly ClaimObstacle[] {
  return obstacles.filter(({ kind, missing }) => kind === "lock" && missing > 0);
}

/**
 * How long the wait for a lock may still take, estimated from how long its last runs held it. `overdue`: the holder has
 * held it longer than any of them, so there is no estimate. Durations in ms.
 */
export type WaitEstimate =
  | { kind: "usual"; runs: number; p50: number; p95: number }
  | { kind: "overdue"; runs: number; longest: number };

/** Minimum number of runs in the history for an estimate. */
const MIN_PAST_RUNS = 3;

/**
 * Estimates the wait: the remaining time of the holder, from past runs that held longer, plus the usual time of each
 * waiter ahead; those that share the lock count together. Undefined if the history is too short, or if the wait does not
 * depend on the holder: the first ticket cannot be read, or it is admitted to the lock and waits elsewhere.
 * @param ahead    entries ahead in the queue of the lock, nearest first
 * @param isShared  whether the waiting run shares the lock
 */
export function estimateWait(
  ahead: readonly QueueEntry[],
  history: readonly PastRun[],
  wall: WallTime,
  isShared = false,
): WaitEstimate | undefined {
  const usual = computeTypicalHeld(history);
  const first = ahead.at(-1);
  const runs = history.length;
  if (usual === undefined || runs < MIN_PAST_RUNS || first === undefined) return undefined;
  if (first.ticket === undefined || first.ticket.state === "admitted") return undefined;
  const holders = ahead.filter(isHolding);
  const others = countTurns(ahead, isShared);
  const rests = holders.map((holder) => estimateRemaining(holder, history, wall));
  const rest = rests.reduce(
    (most, one) => most && one && { p50: Math.max(most.p50, one.p50), p95: Math.max(most.p95, one.p95) },
    { p50: 0, p95: 0 },
  );
  if (rest === undefined) {
    const longest = history.reduce((most, { held }) => Math.max(most, held), 0);
    return { kind: "overdue", runs, longest };
  }
  // The sum of p95 values is a safe upper estimate: it is unlikely that all runs reach their p95.
  return { kind: "usual", runs, p50: rest.p50 + others * usual.p50, p95: rest.p95 + others * usual.p95 };
}

/** Counts how often the lock is held until the turn of a run has come, without the present holders. @param ahead  as above */
function countTurns(ahead: readonly QueueEntry[], isShared: boolean): number {
  const follower = (at: number) => (at === 0 ? isShared : ahead[at - 1]?.ticket?.shared);
  const isLast = ({ ticket }: QueueEntry, at: number) => !(ticket?.shared && follower(at));
  return ahead.filter((entry, at) => !isHolding(entry) && isLast(entry, at)).length;
}

/** Estimates the remaining time of a holder from past runs that held longer. Undefined if no run held longer. */
function estimateRemaining(
  { ticket }: QueueEntry,
  history: readonly PastRun[],
  wall: WallTime,
): DurationSpread | undefined {
  if (ticket === undefined) return { p50: 0, p95: 0 };
  if (ticket.state === "grace") {
    const left = Math.max(0, (ticket.until ?? wall) - wall);
    return { p50: left, p95: left };
  }
  const spent = Math.max(0, wall - getHeldSince(ticket));
  return computeSpread(history.map(({ held }) => held - spent).filter((rest) => rest > 0));
}

/** Liveness of sessions by session id; null if the session could not be read. */
export type SessionLivenessMap = ReadonlyMap<bigint, SessionLiveness | null>;

/** What texts about runs need besides the snapshot. */
export interface ExplainContext {
  /** Wall clock, ms since the epoch. */
  wall: WallTime;
  sessions: SessionLivenessMap;
}

/** Maximum number of waiters and of holders that are listed. Further ones are only counted. */
const MAX_LISTED_RUNS = 4;

/**
 * Formats an explanation as lines. The first line is the answer; details are indented by two and four spaces. Texts
 * from tickets are not cleaned.
 */
export function formatExplanation(explanation: Explanation, context: ExplainContext): string[] {
  const { wall, sessions } = context;
  const { claim, state, obstacles, drains, reset, estimate } = explanation;
  return [
    `${formatSubject(explanation, wall)}: ${formatVerdict(explanation, context)}`,
    ...formatOwnDoubt(claim, sessions),
    ...drains
      .slice(state === "drained" ? 1 : 0)
      .map((drain) => `  it may not start: ${formatDrainCause(drain, wall)}`),
    ...(reset === undefined ? [] : [`  ${formatReset(reset, wall)}`]),
    ...obstacles.flatMap((obstacle) => formatObstacle(obstacle, explanation, context)),
    ...(estimate === undefined ? [] : [`  ${formatEstimate(estimate)}`]),
  ];
}

/** Formats the owner of the claim, and what it holds or waits for. */
function formatSubject({ claim, state, obstacles }: Explanation, wall: WallTime): string {
  const ticket = findClaimTicket(claim);
  const words = [ticket?.command, ticket?.label].filter(Boolean).join(", ");
  const who = `${formatClaimOwner(claim)}${words === "" ? "" : ` (${words})`}`;
  const formatSince = (instant: number | undefined) =>
    instant === undefined ? "" : ` ${formatBriefDuration(wall - instant)}`;
  const all = claim.entries.map(({ queue: { kind, name }, entry }) =>
    formatRequest(
      kind,
      kind === "lock" ? formatLockName(name, entry.ticket) : name,
      entry.ticket?.count ?? "?",
    ),
  );
  if (state === "malformed") return `${who}, in the queue of ${all.join(" and ")}`;
  if (state === "holds")
    return `${who} has held ${all.join(" and ")} for${formatSince(getHeldSince(ticket))}`;
  const waits = obstacles.filter(({ missing, isImpossible }) => missing > 0 || isImpossible);
  const names = waits.map(({ kind, name, count }) => formatRequest(kind, name, count));
  return `${who} has waited${formatSince(ticket?.enqueuedAt)} for ${(names.length > 0 ? names : all).join(" and ")}`;
}

function formatRequest(kind: string, name: string, count: number | string): string {
  return kind === "lock" ? `lock ${name}` : `${count} of ${name}`;
}

function formatVerdict(explanation: Explanation, context: ExplainContext): string {
  const { state, obstacles, drains, first } = explanation;
  switch (state) {
    case "holds":
      return "it waits for nothing";
    case "malformed":
      return "its ticket cannot be read, and blocks all tickets behind it; see: signalbox ls problems";
    case "ready":
      return "nothing blocks it; it is about to be granted";
    case "drained":
      return `it may not start: ${drains[0] === undefined ? "a drain" : formatDrainCause(drains[0], context.wall)}`;
    case "impossible":
      return `${obstacles
        .filter(({ isImpossible }) => isImpossible)
        .map(
          ({ name, count, total }) => `it asks for ${count} of ${name}, but the configured total is ${total}`,
        )
        .join(", and ")}; it gives up at its next check`;
    case "waits":
      return obstacles
        .filter(({ missing }) => missing > 0)
        .map((one) =>
          one.kind === "lock" ? formatLockObstacle(one, first, context) : formatUnitsObstacle(one),
        )
        .join("; and ");
  }
}

/** Formats the run that blocks a lock, and the number of other runs ahead. */
function formatLockObstacle(
  { ahead }: ClaimObstacle,
  first: Explanation | undefined,
  { wall, sessions }: ExplainContext,
): string {
  const chief = ahead.find(isHolding) ?? ahead.at(-1);
  if (chief === undefined) return "a later claim holds it";
  const own = first?.claim.run === chief.run ? first : undefined;
  const holders = ahead.filter(isHolding).length;
  const sharing = holders > 1 ? `, ${holders - 1} ${holders === 2 ? "shares" : "share"} it` : "";
  const others = ahead.length - Math.max(1, holders);
  const more = others === 0 ? "" : `, ${others} ${others === 1 ? "waits" : "wait"} before it`;
  return `${formatBlocker(chief, own, wall)}${formatDoubt(chief, sessions)}${sharing}${more}`;
}

function formatBlocker(chief: QueueEntry, first: Explanation | undefined, wall: WallTime): string {
  const { ticket } = chief;
  if (ticket === undefined) return `the unreadable ticket ${chief.key} is first`;
  if (ticket.state === "grace")
    return `${formatTicketOwner(chief)} has ended, but keeps its place for another ${formatBriefDuration((ticket.until ?? wall) - wall)}`;
  if (isHolding(chief))
    return `${formatTicketOwner(chief)} has held it for ${formatBriefDuration(wall - getHeldSince(ticket))}`;
  if (first?.state === "drained") return `${formatTicketOwner(chief)} is first, but may not start`;
  const lacks = first?.obstacles.filter(({ missing }) => missing > 0) ?? [];
  if (lacks.length === 0)
    return `${formatTicketOwner(chief)} is first, and ${ticket.state === "admitted" ? "waits elsewhere" : "about to be granted"}`;
  const leases = lacks.map(({ kind, name, count }) => formatRequest(kind, name, count)).join(" and ");
  return `${formatTicketOwner(chief)} is first, and waits for ${leases}`;
}

/** Formats how many units of a resource are free, requested and missing. */
function formatUnitsObstacle({ count, used, total, missing, ahead }: ClaimObstacle): string {
  const waiters = ahead.filter((entry) => !isHolding(entry));
  const asked = waiters.reduce((sum, { ticket }) => sum + (ticket?.count ?? total), 0);
  const before =
    waiters.length === 0
      ? ""
      : `, and ${waiters.length} before it ${waiters.length === 1 ? "asks" : "ask"} for ${asked}`;
  const free = Math.max(0, total - used);
  return `it asks for ${count}, ${free} of ${total} ${free === 1 ? "is" : "are"} free${before}: ${missing} missing`;
}

function formatObstacle(obstacle: ClaimObstacle, { first }: Explanation, context: ExplainContext): string[] {
  const { kind, name, position, missing, isImpossible, ahead, heldBehind } = obstacle;
  const turn = missing === 0 && !isImpossible ? ", where its turn has come" : "";
  const holders = ahead.filter(isHolding);
  const waiters = ahead.filter((entry) => !isHolding(entry));
  const named = [
    ...waiters.slice(0, MAX_LISTED_RUNS),
    ...holders.slice(0, MAX_LISTED_RUNS),
    ...heldBehind.slice(0, MAX_LISTED_RUNS),
  ];
  const unnamed = ahead.length + heldBehind.length - named.length;
  return [
    `  ${kind} ${name}: place ${position}${turn}`,
    ...named.map((entry) => `    ${formatEntry(kind, entry, context)}`),
    ...(unnamed > 0 ? [`    and ${unnamed} more`] : []),
    ...(kind === "lock" && missing > 0 && ahead.at(-1)?.run === first?.claim.run
      ? formatFirstInQueue(first, context.wall)
      : []),
  ];
}

/** Formats what blocks the first run in the queue, because it also blocks all runs behind it. */
function formatFirstInQueue(first: Explanation | undefined, wall: WallTime): string[] {
  if (first === undefined || first.state === "malformed") return [];
  const lacks = first.obstacles.filter(({ missing }) => missing > 0);
  return [
    ...lacks.map((lack) => {
      const units = lack.kind === "lock" ? "" : `: ${formatUnitsObstacle(lack)}`;
      return `    the first waits for ${lack.kind === "lock" ? "lock " : ""}${lack.name}${units}`;
    }),
    ...first.drains.map((drain) => `    the first may not start: ${formatDrainCause(drain, wall)}`),
  ];
}

/** Formats a queue entry, for example `held 2 by web1:3121 (invoices.sh) for 12m`, and anything unusual about it. */
function formatEntry(kind: string, entry: QueueEntry, { wall, sessions }: ExplainContext): string {
  const { ticket } = entry;
  if (ticket === undefined) return `${entry.key} cannot be read, and counts as all units`;
  const units = kind === "resource" ? ` ${ticket.count}` : ticket.shared ? " (shared)" : "";
  const asked = ticket.reset === undefined ? "" : `; ${formatReset(ticket.reset, wall)}`;
  const turn = ticket.state === "admitted" ? ", its turn has come here, it waits elsewhere" : "";
  return `${ticket.state}${units} by ${formatTicketOwner(entry)} (${ticket.command}) for ${formatBriefDuration(wall - getHeldSince(ticket))}${turn}${formatDoubt(entry, sessions)}${asked}`;
}

/** Formats a reason to suspect that the runner is gone. */
function formatDoubt(entry: QueueEntry, sessions: SessionLivenessMap): string {
  if (entry.vanished !== undefined) return `; ${describeVanished(entry.vanished)}`;
  if (entry.session === 0n) return "; it has no session, so it stays until it is removed";
  const doubtful = findDoubtfulRunner(entry, sessions);
  return doubtful === undefined ? "" : `; ${doubtful.text}`;
}

/** Returns the liveness of a runner whose session is not renewed. In grace, the command has ended. */
function findDoubtfulRunner(entry: QueueEntry, sessions: SessionLivenessMap): RunnerLiveness | undefined {
  const alive = entry.ticket?.state === "grace" ? undefined : findRunnerLiveness(entry, sessions);
  return alive === undefined || isSessionRenewed(alive) ? undefined : alive;
}

function formatOwnDoubt({ entries }: Claim, sessions: SessionLivenessMap): string[] {
  const doubts = entries.flatMap(({ entry }) => findDoubtfulRunner(entry, sessions) ?? []);
  return doubts.slice(0, 1).map(({ verdict, text }) => `  its own runner is ${verdict}: ${text}`);
}

function formatReset({ by, at, why }: ResetRequest, wall: WallTime): string {
  return `it was asked to end by ${by}, ${formatBriefDuration(wall - at)} ago${formatReason(why)}`;
}

function formatDrainCause(drain: Drain, wall: WallTime): string {
  const since = drain.at > 0 ? ` ${formatBriefDuration(wall - drain.at)} ago` : "";
  const ends = drain.until === undefined ? "" : `; that ends in ${formatBriefDuration(drain.until - wall)}`;
  return `${describeDrainTarget(drain)} was drained by ${drain.by}${since}${formatReason(drain.why)}${ends}`;
}

function formatEstimate(estimate: WaitEstimate): string {
  const past = `the last ${estimate.runs} runs`;
  if (estimate.kind === "overdue") {
    const { longest } = estimate;
    const most = longest < 1000 ? formatDuration(longest) : formatBriefDuration(longest);
    return `no estimate: the holder has held it longer than any of ${past} (at most ${most})`;
  }
  const { p50, p95 } = estimate;
  return p95 < 1000
    ? `judging by ${past}, it should be free at any moment`
    : `judging by ${past}, it should get the lock in about ${formatBriefDuration(p50)}, rarely later than in ${formatBriefDuration(p95)}`;
}

/** Returns the liveness of the runner of a ticket; undefined if its session was not queried. */
export function findRunnerLiveness(
  { session }: Pick<QueueEntry, "session">,
  sessions: SessionLivenessMap,
): RunnerLiveness | undefined {
  const liveness = sessions.get(session);
  return sessions.has(session) ? judgeRunnerLiveness(liveness) : undefined;
}
