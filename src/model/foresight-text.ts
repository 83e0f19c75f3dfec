import { formatDuration } from "../base/duration.ts";
import type { Drain } from "../protocol/drain.ts";
import type { Place } from "../protocol/ticket.ts";
import { type Claim, isHolder, type Stand, whoIs } from "./claims.ts";
import type { Foresight, Upcoming } from "./foresee.ts";

/** Names that are spelled out; of more, only how many they are. */
const MANY = 8;

/**
 * What an eviction would do, in lines for people. Texts from etcd are not cleaned.
 * @param wall  wall clock, ms since the epoch
 */
export function foresightLines({ evicted, freed, next }: Foresight, wall: number): string[] {
  const units = freed
    .filter(({ kind }) => kind === "resource")
    .map(({ name, units }) => `${units} of ${name}`);
  return [
    ...listed("ends", evicted, (claim) => claimLine(claim, wall)),
    ...(units.length === 0 ? [] : [`frees ${units.join(", ")}`]),
    ...(next.length === 0
      ? ["next  nobody who waits now"]
      : listed("next", next, (upcoming) => upcomingLine(upcoming, wall))),
  ];
}

/** The first few of a list, a line each, and how many more there are. */
export function listed<T>(word: string, things: readonly T[], line: (thing: T) => string): string[] {
  const lines = things.slice(0, MANY).map((thing) => `${word.padEnd(5)} ${line(thing)}`);
  return things.length > MANY ? [...lines, `${word.padEnd(5)} and ${things.length - MANY} more`] : lines;
}

/** One run: who it is, what it runs, what it stands in and for how long. */
export function claimLine(claim: Claim, wall: number): string {
  const [first] = claim.stands;
  if (first === undefined) return claim.run;
  const { place } = first;
  const doing =
    place.ticket === undefined
      ? ""
      : ` (${[place.ticket.command, place.ticket.label].filter(Boolean).join(", ")})`;
  const verb = isHolder(claim) ? "holds" : "waits for";
  return `${whoIs(place)}${doing}, ${verb} ${claim.stands.map(standLine).join(" and ")}${sinceLine(place, wall)}`;
}

function standLine({ queue, place }: Stand): string {
  const units = queue.kind === "resource" ? `${place.ticket?.count ?? "?"} of ` : "lock ";
  const state = place.ticket?.state;
  return `${units}${queue.name}${state === "admitted" || state === "grace" ? ` (${state})` : ""}`;
}

function sinceLine({ ticket }: Place, wall: number): string {
  const since = ticket?.grantedAt ?? ticket?.enqueuedAt;
  if (since === undefined) return "";
  return `, for ${formatDuration(Math.max(0, Math.floor((wall - since) / 1000) * 1000))}`;
}

function upcomingLine({ claim, drains }: Upcoming, wall: number): string {
  const [drain] = drains;
  const stopped = drain === undefined ? "" : `; but ${drainLine(drain)}`;
  return `${claimLine(claim, wall)}${stopped}`;
}

/** A drain in words: `lock invoices is drained by ann@web1: new disks`. */
export function drainLine({ scope, name, by, why }: Drain): string {
  const what = scope === "all" ? "everything" : `${scope} ${name}`;
  return `${what} is drained by ${by}${why === undefined ? "" : `: ${why}`}`;
}
