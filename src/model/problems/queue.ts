import { briefDuration } from "../../base/duration.ts";
import { shellWord } from "../../base/shell.ts";
import type { Place, Ticket } from "../../protocol/ticket.ts";
import { whoIs } from "../claims.ts";
import { plainTotal } from "../foresee.ts";
import type { NamedQueue } from "../picture.ts";
import { typicalHeld, typicalWaited } from "../statistics.ts";
import { type Look, nameOf, type Problem } from "./problem.ts";
import { ticketProblems } from "./ticket.ts";

/** What is wrong in one queue. */
export function queueProblems(queue: NamedQueue, look: Look): Problem[] {
  return [
    ...queue.places.flatMap((place) => ticketProblems(queue, place, look)),
    ...totalProblems(queue, look),
    ...holdProblems(queue, look),
    ...waitProblems(queue, look),
  ];
}

/** Runs that have held for much longer than runs of this lock usually do. */
function holdProblems(queue: NamedQueue, { picture, wall, patience }: Look): Problem[] {
  const usual = queue.kind === "lock" ? typicalHeld(picture.histories.get(queue.name) ?? []) : undefined;
  const limit = usual === undefined ? patience.hold : Math.max(60_000, patience.unusual * usual.p95);
  const held = queue.places.filter(({ ticket }) => ticket?.state === "held");
  return longer(held, ({ grantedAt }) => grantedAt, wall - limit).map(({ place, since }) => ({
    ...{ kind: "long-hold", level: "warning", subject: nameOf(queue), ...whose(place) },
    detail: `${whoIs(place)} has held it for ${briefDuration(wall - since)}${ruleText(usual?.p95)}`,
    remedy: `signalbox show ${queue.kind} ${shellWord(queue.name)}`,
  }));
}

/** Runs that wait for long, and for much longer than runs of this lock usually had to. */
function waitProblems(queue: NamedQueue, { picture, wall, patience }: Look): Problem[] {
  const usual = queue.kind === "lock" ? typicalWaited(picture.histories.get(queue.name) ?? []) : undefined;
  const limit = Math.max(patience.wait, patience.unusual * (usual?.p95 ?? 0));
  const waiting = queue.places.filter(({ ticket }) => ticket !== undefined && isWaiting(ticket));
  const found = longer(waiting, ({ enqueuedAt }) => enqueuedAt, wall - limit);
  const [first] = found;
  if (first === undefined) return [];
  // Whoever is behind waits for the same reason: one line for the queue, however long it is.
  const more = found.length === 1 ? "" : `, and ${found.length - 1} behind it nearly as long`;
  return [
    {
      ...{
        kind: "long-wait",
        level: "warning",
        subject: nameOf(queue),
        ...whose(first.place),
      },
      detail: `${whoIs(first.place)} has waited for ${briefDuration(wall - first.since)}${more}${ruleText(usual?.p95)}`,
      remedy: `signalbox why ${shellWord(first.place.run)}`,
    },
  ];
}

function whose({ run, ticket }: Place): Pick<Problem, "host" | "run"> {
  return { run, ...(ticket && { host: ticket.host }) };
}

const isWaiting = ({ state }: Ticket) => state === "waiting" || state === "admitted";

/** Places whose instant lies before a limit. */
function longer(
  places: readonly Place[],
  instant: (ticket: Ticket) => number | undefined,
  before: number,
): { place: Place; since: number }[] {
  return places.flatMap((place) => {
    const since = place.ticket && instant(place.ticket);
    return since === undefined || since >= before ? [] : [{ place, since }];
  });
}

function ruleText(p95: number | undefined): string {
  return p95 === undefined ? "" : `; 95 % of its runs: no more than ${briefDuration(p95)}`;
}

/** Runs that disagree on how much there is, and claims that can never be granted. */
function totalProblems(queue: NamedQueue, { picture }: Look): Problem[] {
  if (queue.kind !== "resource") return [];
  const subject = nameOf(queue);
  const tickets = queue.places.flatMap(({ ticket }) => ticket ?? []);
  const totals = [...new Set(tickets.map(({ total }) => total))].sort((a, b) => a - b);
  const configured = plainTotal(picture, queue.name);
  const disagree =
    totals.length > 1 || (configured !== undefined && totals.some((one) => one !== configured));
  const large = tickets.filter(({ count }) => configured !== undefined && count > configured);
  const config =
    configured === undefined ? "" : `, configured ${configured === 1 ? "is" : "are"} ${configured}`;
  const remedy = `signalbox resource set ${shellWord(queue.name)} TOTAL, and leave totals out of --lease`;
  return [
    ...(disagree
      ? [
          {
            ...({ kind: "totals", level: "warning", subject, remedy } as const),
            detail: `runs state totals of ${totals.join(", ")}${config}`,
          },
        ]
      : []),
    ...large.map(
      ({ host, pid, count, run }): Problem => ({
        ...{ kind: "too-large", level: "warning", subject, host, run },
        detail: `${host}:${pid} asks for ${count} units, there are only ${configured}`,
        remedy: "it leaves by itself as soon as it looks; ask for less",
      }),
    ),
  ];
}
