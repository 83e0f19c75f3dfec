import { briefDuration, formatInstant } from "../../base/duration.ts";
import { holds } from "../../protocol/admission.ts";
import type { Place, Ticket } from "../../protocol/ticket.ts";
import { whoIs } from "../claims.ts";
import { livenessOf, type Pulses } from "../explain-text.ts";
import { commandText } from "../tables/cells.ts";
import type { Tone } from "../tables/view.ts";
import { type Around, type Fact, known } from "./detail.ts";

/** Everything about the run that one ticket is of. */
export function ticketFacts(place: Place, { wall, pulses, host }: Around): Fact[] {
  const { ticket, run, createRevision } = place;
  if (ticket === undefined) return known([["ticket", `${place.key} cannot be read`, "problem"]]);
  const [runner, tone] = runnerText(place, pulses);
  return known([
    [holds(place) ? "holder" : "waiter", `${whoIs(place)} (${commandText(ticket)}), user ${ticket.user}`],
    ["label", ticket.label],
    ["run", run],
    ["token", String(createRevision)],
    ...timeFacts(ticket, wall),
    ["runner", runner, tone],
    ["host", host && `${ticket.host} ${hostText(host)}`, host?.verdict === "quiet" ? "problem" : "plain"],
    ["reset", resetText(ticket, wall), "problem"],
  ]);
}

function hostText({ verdict, text }: NonNullable<Around["host"]>): string {
  if (verdict === "alive") return `is there: ${text}`;
  return verdict === "quiet" ? `seems to be gone: ${text}` : `may be there or not: ${text}`;
}

type Words = readonly [label: string, value: string | undefined, tone?: Tone];

function timeFacts(ticket: Ticket, wall: number): Words[] {
  const { grantedAt, enqueuedAt, state, until } = ticket;
  const since = grantedAt ?? enqueuedAt;
  return [
    ["since", `${formatInstant(since)}, for ${briefDuration(wall - since)}`],
    ["waited", grantedAt === undefined ? undefined : briefDuration(grantedAt - enqueuedAt)],
    ["grace", state === "grace" ? graceText(until, wall) : undefined],
  ];
}

function graceText(until: number | undefined, wall: number): string {
  const end =
    until === undefined
      ? "without an end"
      : until <= wall
        ? "over, anybody may take it"
        : `for another ${briefDuration(until - wall)}`;
  return `its command has ended, its place is kept: ${end}`;
}

function resetText({ reset }: Ticket, wall: number): string | undefined {
  if (reset === undefined) return undefined;
  const why = reset.why === undefined ? "" : `: ${reset.why}`;
  return `asked for by ${reset.by}, ${briefDuration(wall - reset.at)} ago${why}`;
}

function runnerText(place: Place, pulses: Pulses): [text: string | undefined, tone: Tone] {
  if (place.session === 0n) return ["on no session: it stays until a reset by force", "problem"];
  const alive = livenessOf(place, pulses);
  if (alive === undefined || place.ticket?.state === "grace") return [undefined, "plain"];
  const left = alive.verdict === "alive" ? `, ${alive.left}s left` : "";
  return [`${alive.verdict}: ${alive.text}${left}`, alive.verdict === "alive" ? "plain" : "problem"];
}
