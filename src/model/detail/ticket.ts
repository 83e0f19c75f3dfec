import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { isHolding } from "../../protocol/admission.ts";
import { describeVanished, type QueueEntry, type Ticket } from "../../protocol/ticket.ts";
import { findRunnerLiveness, type SessionLivenessMap } from "../explain/explain-text.ts";
import { isSessionRenewed } from "../rows/liveness.ts";
import { formatTicketOwner } from "../snapshot/claims.ts";
import { formatTicketCommand } from "../tables/cells.ts";
import type { Tone } from "../views/view.ts";
import { buildFacts, type DetailContext, type Fact } from "./detail.ts";

/** Builds the facts about the run of a ticket. */
export function buildTicketFacts(entry: QueueEntry, { wall, sessions, host }: DetailContext): Fact[] {
  const { ticket, run, createRevision } = entry;
  if (ticket === undefined) return buildFacts([["ticket", `${entry.key} cannot be read`, "problem"]]);
  const [runner, tone] = formatRunner(entry, sessions);
  return buildFacts([
    [
      isHolding(entry) ? "holder" : "waiter",
      `${formatTicketOwner(entry)} (${formatTicketCommand(ticket)}), user ${ticket.user}`,
    ],
    ["label", ticket.label],
    ["run", run],
    ["token", String(createRevision)],
    ...listTimeFacts(ticket, wall),
    ["runner", runner, tone],
    ["host", host && `${ticket.host} ${formatHost(host)}`, host?.verdict === "quiet" ? "problem" : "plain"],
    ["reset", formatReset(ticket, wall), "problem"],
  ]);
}

function formatHost({ verdict, text }: NonNullable<DetailContext["host"]>): string {
  if (verdict === "alive") return `is alive: ${text}`;
  return verdict === "quiet" ? `seems to be down: ${text}` : `may be alive or not: ${text}`;
}

type FactEntry = readonly [label: string, value: string | undefined, tone?: Tone];

function listTimeFacts(ticket: Ticket, wall: number): FactEntry[] {
  const { grantedAt, enqueuedAt, state, until } = ticket;
  const since = grantedAt ?? enqueuedAt;
  return [
    ["since", `${formatInstant(since)}, for ${formatBriefDuration(wall - since)}`],
    ["waited", grantedAt === undefined ? undefined : formatBriefDuration(grantedAt - enqueuedAt)],
    ["grace", state === "grace" ? formatGrace(until, wall) : undefined],
  ];
}

function formatGrace(until: number | undefined, wall: number): string {
  const end =
    until === undefined
      ? "without an end"
      : until <= wall
        ? "over, others may take it"
        : `for another ${formatBriefDuration(until - wall)}`;
  return `its command has ended, its place is kept: ${end}`;
}

function formatReset({ reset }: Ticket, wall: number): string | undefined {
  if (reset === undefined) return undefined;
  const why = reset.why === undefined ? "" : `: ${reset.why}`;
  return `asked for by ${reset.by}, ${formatBriefDuration(wall - reset.at)} ago${why}`;
}

function formatRunner(
  entry: QueueEntry,
  sessions: SessionLivenessMap,
): [text: string | undefined, tone: Tone] {
  if (entry.vanished !== undefined) return [describeVanished(entry.vanished), "problem"];
  if (entry.session === 0n) return ["no session: it stays until a reset with --force", "problem"];
  const alive = findRunnerLiveness(entry, sessions);
  if (alive === undefined || entry.ticket?.state === "grace") return [undefined, "plain"];
  const isRenewed = isSessionRenewed(alive);
  const left = isRenewed ? `, ${alive.left}s left` : "";
  return [`${alive.verdict}: ${alive.text}${left}`, isRenewed ? "plain" : "problem"];
}
