import { formatBriefDuration } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { hasEnded } from "../../protocol/drain.ts";
import { describeVanished, type QueueEntry, type Ticket } from "../../protocol/ticket.ts";
import { computeTypicalHeld, computeTypicalWaited } from "../explain/statistics.ts";
import { findPlainTotal } from "../preview/eviction-preview.ts";
import { formatTicketOwner } from "../snapshot/claims.ts";
import type { NamedQueue } from "../snapshot/snapshot.ts";
import type { Remedy } from "../views/remedy.ts";
import { formatQueueName, type Problem, type ProblemInputs, THRESHOLDS } from "./problem.ts";

/** Finds the problems of one queue. */
export function findQueueProblems(queue: NamedQueue, inputs: ProblemInputs): Problem[] {
  return [
    ...queue.entries.flatMap((entry) => findTicketProblems(queue, entry, inputs)),
    ...findTotalProblems(queue, inputs),
    ...findHoldProblems(queue, inputs),
    ...findWaitProblems(queue, inputs),
  ];
}

/** Finds runs that hold much longer than past runs of the lock. */
function findHoldProblems(queue: NamedQueue, { snapshot, wall }: ProblemInputs): Problem[] {
  const usual =
    queue.kind === "lock" ? computeTypicalHeld(snapshot.histories.get(queue.name) ?? []) : undefined;
  const limit = usual === undefined ? THRESHOLDS.hold : Math.max(60_000, THRESHOLDS.unusual * usual.p95);
  const held = queue.entries.filter(({ ticket, vanished }) => ticket?.state === "held" && !vanished);
  return findEntriesBefore(held, ({ grantedAt }) => grantedAt, wall - limit).map(({ entry, since }) => ({
    kind: "long-hold",
    level: "warning",
    subject: formatQueueName(queue),
    ...toProblemRun(entry),
    detail: `${formatTicketOwner(entry)} has held it for ${formatBriefDuration(wall - since)}${formatUsual(usual?.p95)}`,
    remedy: `signalbox show ${queue.kind} ${quoteShellWord(queue.name)}`,
  }));
}

/** Finds runs that wait long, and much longer than past runs of the lock. */
function findWaitProblems(queue: NamedQueue, { snapshot, wall }: ProblemInputs): Problem[] {
  const usual =
    queue.kind === "lock" ? computeTypicalWaited(snapshot.histories.get(queue.name) ?? []) : undefined;
  const limit = Math.max(THRESHOLDS.wait, THRESHOLDS.unusual * (usual?.p95 ?? 0));
  const waiting = queue.entries.filter(({ ticket }) => ticket !== undefined && isWaiting(ticket));
  const found = findEntriesBefore(waiting, ({ enqueuedAt }) => enqueuedAt, wall - limit);
  const [first] = found;
  if (first === undefined) return [];
  // Runs behind the first wait for the same reason, so there is one problem per queue.
  const more = found.length === 1 ? "" : `, and ${found.length - 1} behind it nearly as long`;
  return [
    {
      kind: "long-wait",
      level: "warning",
      subject: formatQueueName(queue),
      ...toProblemRun(first.entry),
      detail: `${formatTicketOwner(first.entry)} has waited for ${formatBriefDuration(wall - first.since)}${more}${formatUsual(usual?.p95)}`,
      remedy: `signalbox why ${quoteShellWord(first.entry.run)}`,
    },
  ];
}

function toProblemRun({ run, ticket }: QueueEntry): Pick<Problem, "host" | "run"> {
  return { run, ...(ticket && { host: ticket.host }) };
}

const isWaiting = ({ state }: Ticket) => state === "waiting" || state === "admitted";

/** Finds entries whose instant is before a limit. Instants in ms since the epoch. */
function findEntriesBefore(
  entries: readonly QueueEntry[],
  instant: (ticket: Ticket) => number | undefined,
  before: number,
): { entry: QueueEntry; since: number }[] {
  return entries.flatMap((entry) => {
    const since = entry.ticket && instant(entry.ticket);
    return since === undefined || since >= before ? [] : [{ entry, since }];
  });
}

function formatUsual(p95: number | undefined): string {
  return p95 === undefined ? "" : `; 95 % of its runs: no more than ${formatBriefDuration(p95)}`;
}

/** Finds runs that state different totals, and claims that can never be granted. */
function findTotalProblems(queue: NamedQueue, { snapshot }: ProblemInputs): Problem[] {
  if (queue.kind !== "resource") return [];
  const subject = formatQueueName(queue);
  const tickets = queue.entries.flatMap(({ ticket }) => ticket ?? []);
  const totals = [...new Set(tickets.map(({ total }) => total))].sort((a, b) => a - b);
  const configured = findPlainTotal(snapshot, queue.name);
  const disagree =
    totals.length > 1 || (configured !== undefined && totals.some((one) => one !== configured));
  const large = tickets.filter(({ count }) => configured !== undefined && count > configured);
  const config =
    configured === undefined ? "" : `, configured ${configured === 1 ? "is" : "are"} ${configured}`;
  const remedy = `signalbox resource set ${quoteShellWord(queue.name)} TOTAL, and leave totals out of --lease`;
  const disagreement: Problem = {
    kind: "totals",
    level: "warning",
    subject,
    remedy,
    action: { command: "resource set", args: [queue.name] },
    detail: `runs state totals of ${totals.join(", ")}${config}`,
  };
  return [
    ...(disagree ? [disagreement] : []),
    ...large.map(
      ({ host, pid, count, run }): Problem => ({
        kind: "too-large",
        level: "warning",
        subject,
        host,
        run,
        detail: `${host}:${pid} asks for ${count} units, but there are only ${configured}`,
        remedy: "it gives up by itself at its next check; ask for less",
      }),
    ),
  ];
}

const PRUNE: Remedy = { command: "prune", args: [], flags: { vanished: true } };

/** Finds the problems of one ticket. */
function findTicketProblems(queue: NamedQueue, entry: QueueEntry, { wall }: ProblemInputs): Problem[] {
  const { ticket } = entry;
  const subject = formatQueueName(queue);
  const remedy = formatForcedReset(queue, entry);
  const action = buildForcedReset(queue, entry);
  if (ticket === undefined) {
    const detail = `the ticket ${entry.key} cannot be read; it counts as all units, so nothing behind it is granted`;
    return [{ kind: "malformed", level: "failure", subject, detail, remedy, action, run: entry.run }];
  }
  const about = { subject, host: ticket.host, run: entry.run, remedy, action };
  const { action: _, ...unhelped } = about;
  const asked = ticket.reset === undefined ? 0 : wall - ticket.reset.at;
  const ahead = ticket.enqueuedAt - wall;
  const found: (Problem | false)[] = [
    entry.vanished !== undefined && {
      ...about,
      kind: "vanished",
      level: "warning",
      remedy: "signalbox prune --vanished",
      action: PRUNE,
      detail: `${formatTicketOwner(entry)} held it: ${describeVanished(entry.vanished)}, once a run asks for it`,
    },
    entry.vanished === undefined &&
      entry.session === 0n && {
        ...about,
        kind: "orphan",
        level: "failure",
        detail: `${formatTicketOwner(entry)} has a ticket without a session: it never expires`,
      },
    isOverdue(ticket, wall) && {
      ...about,
      kind: "overdue",
      level: "warning",
      detail: `${formatTicketOwner(entry)} keeps its place after the end of its grace`,
    },
    asked > THRESHOLDS.reset && {
      ...about,
      kind: "reset-unanswered",
      level: "warning",
      detail: `${formatTicketOwner(entry)} was asked to end ${formatBriefDuration(asked)} ago, and has not ended`,
    },
    ahead > THRESHOLDS.clock && {
      ...unhelped,
      kind: "clock",
      level: "warning",
      remedy: "compare the clocks of the hosts (ntp)",
      detail: `${formatTicketOwner(entry)} wrote a time ${formatBriefDuration(ahead)} ahead of this host's clock`,
    },
  ];
  return found.filter((one) => one !== false);
}

/** Formats a reset that removes the ticket without its runner. A key put by hand has its last segment as run id. */
function formatForcedReset({ kind, name }: NamedQueue, { run }: QueueEntry): string {
  return `signalbox reset ${kind} ${quoteShellWord(name)} --run ${quoteShellWord(run)} --force`;
}

function buildForcedReset({ kind, name }: NamedQueue, { run }: QueueEntry): Remedy {
  return { command: "reset", args: [kind, name], flags: { run, force: true } };
}

function isOverdue({ state, until }: Ticket, wall: number): boolean {
  return state === "grace" && until !== undefined && hasEnded({ until }, wall);
}
