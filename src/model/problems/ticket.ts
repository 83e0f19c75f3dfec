import { formatBriefDuration } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { hasEnded } from "../../protocol/drain.ts";
import { describeVanished, type QueueEntry, type Ticket } from "../../protocol/ticket.ts";
import { formatTicketOwner } from "../snapshot/claims.ts";
import type { NamedQueue } from "../snapshot/snapshot.ts";
import type { Remedy } from "../views/remedy.ts";
import { formatQueueName, type Problem, type ProblemInputs, THRESHOLDS } from "./problem.ts";

const PRUNE: Remedy = { command: "prune", args: [], flags: { vanished: true } };

/** Finds the problems of one ticket. */
export function findTicketProblems(queue: NamedQueue, entry: QueueEntry, { wall }: ProblemInputs): Problem[] {
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
