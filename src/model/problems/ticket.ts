import { briefDuration } from "../../base/duration.ts";
import { shellWord } from "../../base/shell.ts";
import { hasEnded } from "../../protocol/drain.ts";
import type { Place, Ticket } from "../../protocol/ticket.ts";
import { whoIs } from "../claims.ts";
import type { NamedQueue } from "../picture.ts";
import { type Look, nameOf, type Problem } from "./problem.ts";

/** What is wrong with one ticket. */
export function ticketProblems(queue: NamedQueue, place: Place, { wall, patience }: Look): Problem[] {
  const { ticket } = place;
  const subject = nameOf(queue);
  const remedy = forceLine(queue, place);
  if (ticket === undefined) {
    const detail = `the ticket ${place.key} cannot be read; it weighs everything, so nobody behind it is granted`;
    return [{ kind: "malformed", level: "failure", subject, detail, remedy, run: place.run }];
  }
  const about = { subject, host: ticket.host, run: place.run, remedy };
  const asked = ticket.reset === undefined ? 0 : wall - ticket.reset.at;
  const ahead = ticket.enqueuedAt - wall;
  const found: (Problem | false)[] = [
    place.session === 0n && {
      ...{ ...about, kind: "orphan", level: "failure" },
      detail: `${whoIs(place)} has a ticket on no session: it never expires`,
    },
    isOverdue(ticket, wall) && {
      ...{ ...about, kind: "overdue", level: "warning" },
      detail: `${whoIs(place)} keeps its place in grace past its time`,
    },
    asked > patience.reset && {
      ...{ ...about, kind: "reset-unanswered", level: "warning" },
      detail: `${whoIs(place)} was asked to end ${briefDuration(asked)} ago, and has not`,
    },
    ahead > patience.clock && {
      ...{ ...about, kind: "clock", level: "warning", remedy: "compare the clocks of the hosts (ntp)" },
      detail: `${whoIs(place)} wrote a time ${briefDuration(ahead)} ahead of this host's clock`,
    },
  ];
  return found.filter((one) => one !== false);
}

/** Takes it away whatever its runner does. A key put by hand may name no run; then it has a segment of its own. */
function forceLine({ kind, name }: NamedQueue, { run }: Place): string {
  return `signalbox reset ${kind} ${shellWord(name)} --run ${shellWord(run)} --force`;
}

function isOverdue({ state, until }: Ticket, wall: number): boolean {
  return state === "grace" && until !== undefined && hasEnded({ until }, wall);
}
