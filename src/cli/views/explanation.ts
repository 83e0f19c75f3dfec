import { formatBriefDuration, formatDuration, type WallTime } from "../../core/base/clock.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import {
  describeVanished,
  formatLockName,
  type QueueEntry,
  type ResetRequest,
} from "../../core/protocol/ticket.ts";
import { type Claim, findClaimTicket, getHeldSince } from "../../site/state/claims.ts";
import {
  type ClaimObstacle,
  type Explanation,
  findRunnerLiveness,
  type SessionLivenessMap,
  type WaitEstimate,
} from "../../site/state/explain.ts";
import { isSessionRenewed, type RunnerLiveness } from "../../site/state/liveness.ts";
import { formatClaimOwner, formatTicketOwner } from "./claims.ts";
import { describeDrainTarget, formatReason } from "./drain-lines.ts";

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
