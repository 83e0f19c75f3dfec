import { briefDuration } from "../../base/duration.ts";
import { hasEnded } from "../../protocol/drain.ts";
import type { Place, Ticket } from "../../protocol/ticket.ts";
import { whoIs } from "../claims.ts";
import { plainTotal } from "../foresee.ts";
import type { NamedQueue, Picture } from "../picture.ts";
import { typicalHeld } from "../statistics.ts";
import type { Look, Patience, Problem } from "./problem.ts";

/** What is wrong in one queue. */
export function queueProblems(queue: NamedQueue, look: Look): Problem[] {
  return [
    ...queue.places.flatMap((place) => placeProblems(queue, place, look)),
    ...totalProblems(queue, look.picture),
    ...holdProblems(queue, look),
  ];
}

function placeProblems(queue: NamedQueue, place: Place, { wall, patience }: Look): Problem[] {
  const subject = `${queue.kind} ${queue.name}`;
  const { ticket } = place;
  const force = `signalbox reset ${queue.kind} ${queue.name} --run ${place.run} --force`;
  if (ticket === undefined) {
    const detail = `the ticket ${place.key} cannot be read; it weighs everything, so nobody behind it is granted`;
    return [{ kind: "malformed", level: "failure", subject, detail, remedy: force }];
  }
  const about = (
    kind: Problem["kind"],
    detail: string,
    remedy: string,
    level: Problem["level"] = "warning",
  ) => ({
    ...{ kind, level, subject, detail: `${whoIs(place)} ${detail}`, remedy },
  });
  const age = wall - ticket.enqueuedAt;
  return [
    ...(place.session === 0n
      ? [about("orphan", "has a ticket on no session: it never expires", force, "failure")]
      : []),
    ...(isOverdue(ticket, wall) ? [about("overdue", "keeps its place in grace past its time", force)] : []),
    ...(isUnanswered(ticket, wall, patience)
      ? [
          about(
            "reset-unanswered",
            `was asked to end ${briefDuration(wall - (ticket.reset?.at ?? wall))} ago, and has not`,
            force,
          ),
        ]
      : []),
    ...(-age > patience.clock
      ? [
          about(
            "clock",
            `wrote a time ${briefDuration(-age)} ahead of this host's clock`,
            "compare the clocks of the hosts (ntp)",
          ),
        ]
      : []),
    ...(isWaiting(ticket) && age > patience.wait
      ? [about("long-wait", `has waited for ${briefDuration(age)}`, `signalbox why ${place.run}`)]
      : []),
  ];
}

const isWaiting = ({ state }: Ticket) => state === "waiting" || state === "admitted";
const isOverdue = ({ state, until }: Ticket, wall: number) =>
  state === "grace" && hasEnded({ ...(until && { until }) }, wall);

function isUnanswered({ reset }: Ticket, wall: number, { reset: patience }: Patience): boolean {
  return reset !== undefined && wall - reset.at > patience;
}

/** A run holds much longer than runs of this lock usually do. */
function holdProblems(queue: NamedQueue, { picture, wall, patience }: Look): Problem[] {
  const usual = queue.kind === "lock" ? typicalHeld(picture.histories.get(queue.name) ?? []) : undefined;
  const limit = usual === undefined ? patience.hold : Math.max(60_000, 3 * usual.p95);
  return queue.places.flatMap((place) => {
    const since = place.ticket?.state === "held" ? place.ticket.grantedAt : undefined;
    if (since === undefined || wall - since <= limit) return [];
    const rule =
      usual === undefined ? "" : `; 95 % of its runs took no more than ${briefDuration(usual.p95)}`;
    return [
      {
        ...({ kind: "long-hold", level: "warning", subject: `${queue.kind} ${queue.name}` } as const),
        detail: `${whoIs(place)} has held it for ${briefDuration(wall - since)}${rule}`,
        remedy: `signalbox show ${queue.kind} ${queue.name}`,
      },
    ];
  });
}

/** Runs that disagree on how much there is, and claims that can never be granted. */
function totalProblems(queue: NamedQueue, picture: Picture): Problem[] {
  if (queue.kind !== "resource") return [];
  const subject = `resource ${queue.name}`;
  const tickets = queue.places.flatMap(({ ticket }) => ticket ?? []);
  const totals = [...new Set(tickets.map(({ total }) => total))].sort((a, b) => a - b);
  const configured = plainTotal(picture, queue.name);
  const remedy = `signalbox resource set ${queue.name} TOTAL, and leave totals out of --lease`;
  const others = totals.filter((total) => total !== configured);
  const disagree = configured === undefined ? totals.length > 1 : others.length > 0;
  const large = tickets.filter(({ count }) => configured !== undefined && count > configured);
  return [
    ...(disagree
      ? [
          {
            ...({ kind: "totals", level: "warning", subject, remedy } as const),
            detail: `runs state totals of ${totals.join(", ")}${configured === undefined ? "" : `, configured are ${configured}`}`,
          },
        ]
      : []),
    ...large.map(
      ({ host, pid, count }): Problem => ({
        ...{ kind: "too-large", level: "warning", subject },
        detail: `${host}:${pid} asks for ${count} units, there are only ${configured}`,
        remedy: "it leaves by itself as soon as it looks; ask for less",
      }),
    ),
  ];
}
