import { briefDuration, formatDuration } from "../base/duration.ts";
import { holds } from "../protocol/admission.ts";
import type { Drain } from "../protocol/drain.ts";
import type { Place, ResetRequest } from "../protocol/ticket.ts";
import { type Liveness, liveness, type Pulse } from "./alive.ts";
import { type Claim, whoIs } from "./claims.ts";
import type { Explanation, Obstacle } from "./explain.ts";
import type { Estimate } from "./explain-estimate.ts";

/** What sessions said, by their ids; null: one that could not be asked. */
export type Pulses = ReadonlyMap<bigint, Pulse | null>;

/** Waiters ahead, and holders, that are named; of more, only how many they are. */
const MANY = 4;

/**
 * An explanation in lines, the answer first; what belongs to it stands in by two, and by four. Texts from tickets are not
 * cleaned.
 * @param wall  ms since the epoch
 */
export function explanationLines(explanation: Explanation, wall: number, pulses: Pulses): string[] {
  const { claim, state, obstacles, drains, reset, estimate } = explanation;
  return [
    `${subject(explanation, wall)}: ${verdict(explanation, wall, pulses)}`,
    ...ownDoubt(claim, pulses),
    ...drains
      .slice(state === "drained" ? 1 : 0)
      .map((drain) => `  it may not start: ${drainText(drain, wall)}`),
    ...(reset === undefined ? [] : [`  ${resetText("it", reset, wall)}`]),
    ...obstacles.flatMap((obstacle) => obstacleLines(obstacle, explanation, wall, pulses)),
    ...(estimate === undefined ? [] : [`  ${estimateText(estimate)}`]),
  ];
}

/** Who it is, and what it has been waiting for. */
function subject({ claim, state, obstacles }: Explanation, wall: number): string {
  const ticket = claim.stands.find(({ place }) => place.ticket !== undefined)?.place.ticket;
  const [first] = claim.stands;
  const words = [ticket?.command, ticket?.label].filter(Boolean).join(", ");
  const who = `${first === undefined ? claim.run : whoIs(first.place)}${words === "" ? "" : ` (${words})`}`;
  const since = (instant: number | undefined) =>
    instant === undefined ? "" : ` ${briefDuration(wall - instant)}`;
  const all = claim.stands.map(({ queue: { kind, name }, place }) =>
    thing(kind, name, place.ticket?.count ?? "?"),
  );
  if (state === "malformed") return `${who}, in the queue of ${all.join(" and ")}`;
  if (state === "holds")
    return `${who} has held ${all.join(" and ")} for${since(ticket?.grantedAt ?? ticket?.enqueuedAt)}`;
  const waits = obstacles.filter(({ missing, isImpossible }) => missing > 0 || isImpossible);
  const names = waits.map(({ kind, name, count }) => thing(kind, name, count));
  return `${who} has waited${since(ticket?.enqueuedAt)} for ${(names.length > 0 ? names : all).join(" and ")}`;
}

function thing(kind: string, name: string, count: number | string): string {
  return kind === "lock" ? `lock ${name}` : `${count} of ${name}`;
}

function verdict(explanation: Explanation, wall: number, pulses: Pulses): string {
  const { state, obstacles, drains, first } = explanation;
  switch (state) {
    case "holds":
      return "it waits for nothing";
    case "malformed":
      return "its ticket cannot be read, and is in the way of all behind it; see: signalbox ls problems";
    case "ready":
      return "nothing stands in its way, it is about to be granted";
    case "drained":
      return `it may not start: ${drains[0] === undefined ? "a drain" : drainText(drains[0], wall)}`;
    case "impossible":
      return `${obstacles
        .filter(({ isImpossible }) => isImpossible)
        .map(tooLarge)
        .join(", and ")}; it gives up when it looks`;
    case "waits":
      return obstacles
        .filter(({ missing }) => missing > 0)
        .map((one) => (one.kind === "lock" ? lockText(one, first, wall, pulses) : unitsText(one)))
        .join("; and ");
  }
}

function tooLarge({ name, count, total }: Obstacle): string {
  return `it asks for ${count}, operators allow ${total} of ${name}`;
}

/** Who is in the way at a lock, and how many more. */
function lockText({ ahead }: Obstacle, first: Explanation | undefined, wall: number, pulses: Pulses): string {
  const chief = ahead.find(holds) ?? ahead.at(-1);
  if (chief === undefined) return "somebody holds it who claimed it later";
  const others = ahead.length - 1;
  const more = others === 0 ? "" : `, ${others} ${others === 1 ? "waits" : "wait"} before it`;
  return `${chiefText(chief, first, wall)}${doubt(chief, pulses)}${more}`;
}

function chiefText(chief: Place, first: Explanation | undefined, wall: number): string {
  const { ticket } = chief;
  if (ticket === undefined) return `the ticket ${chief.key}, which cannot be read, is first`;
  if (ticket.state === "grace")
    return `${whoIs(chief)} has ended, and keeps its place for another ${briefDuration((ticket.until ?? wall) - wall)}`;
  if (holds(chief))
    return `${whoIs(chief)} has held it for ${briefDuration(wall - (ticket.grantedAt ?? ticket.enqueuedAt))}`;
  if (first?.state === "drained") return `${whoIs(chief)} is first, but may not start`;
  const lacks = first?.obstacles.filter(({ missing }) => missing > 0) ?? [];
  if (lacks.length === 0) return `${whoIs(chief)} is first, and about to be granted`;
  const leases = lacks.map(({ kind, name, count }) => thing(kind, name, count)).join(" and ");
  return `${whoIs(chief)} is first, and waits for ${leases}`;
}

/** How the units are taken that a resource lacks. */
function unitsText({ count, used, total, missing, ahead }: Obstacle): string {
  const waiters = ahead.filter((place) => !holds(place));
  const asked = waiters.reduce((sum, { ticket }) => sum + (ticket?.count ?? total), 0);
  const before =
    waiters.length === 0
      ? ""
      : `, and ${waiters.length} before it ${waiters.length === 1 ? "asks" : "ask"} for ${asked}`;
  const free = Math.max(0, total - used);
  return `it asks for ${count}, ${free} of ${total} ${free === 1 ? "is" : "are"} free${before}: ${missing} missing`;
}

function obstacleLines(obstacle: Obstacle, { first }: Explanation, wall: number, pulses: Pulses): string[] {
  const { kind, name, position, missing, isImpossible, ahead, heldBehind } = obstacle;
  const turn = missing === 0 && !isImpossible ? ", where its turn has come" : "";
  const holders = ahead.filter(holds);
  const waiters = ahead.filter((place) => !holds(place));
  const named = [...waiters.slice(0, MANY), ...holders.slice(0, MANY), ...heldBehind.slice(0, MANY)];
  const unnamed = ahead.length + heldBehind.length - named.length;
  return [
    `  ${kind} ${name}: place ${position}${turn}`,
    ...named.map((place) => `    ${placeText(kind, place, wall, pulses)}`),
    ...(unnamed > 0 ? [`    and ${unnamed} more`] : []),
    ...(kind === "lock" && missing > 0 ? firstLines(first, wall) : []),
  ];
}

/** What keeps the first in the queue, whose waiting is everybody's. */
function firstLines(first: Explanation | undefined, wall: number): string[] {
  if (first === undefined || first.state === "malformed") return [];
  return [
    ...first.obstacles
      .filter(({ missing }) => missing > 0)
      .map(({ name, ...rest }) => `    the first waits for ${name}: ${unitsText({ name, ...rest })}`),
    ...first.drains.map((drain) => `    the first may not start: ${drainText(drain, wall)}`),
  ];
}

/** `held 2 by web1:3121 (invoices.sh) for 12m`, and what is odd about it. */
function placeText(kind: string, place: Place, wall: number, pulses: Pulses): string {
  const { ticket } = place;
  if (ticket === undefined) return `${place.key} cannot be read, and weighs everything`;
  const since = ticket.grantedAt ?? ticket.enqueuedAt;
  const units = kind === "resource" ? ` ${ticket.count}` : "";
  const asked = ticket.reset === undefined ? "" : `; ${resetText("it", ticket.reset, wall)}`;
  const turn = ticket.state === "admitted" ? ", its turn has come here, it waits elsewhere" : "";
  return `${ticket.state}${units} by ${whoIs(place)} (${ticket.command}) for ${briefDuration(wall - since)}${turn}${doubt(place, pulses)}${asked}`;
}

/** What speaks against that a runner is there; nothing for one whose command has ended. */
function doubt(place: Place, pulses: Pulses): string {
  if (place.session === 0n) return "; it is on no session, so it stays until it is removed";
  const alive = place.ticket?.state === "grace" ? undefined : livenessOf(place, pulses);
  return alive === undefined || alive.verdict === "alive" ? "" : `; ${alive.text}`;
}

function ownDoubt({ stands }: Claim, pulses: Pulses): string[] {
  const doubts = stands.flatMap(({ place }) => {
    const alive = place.ticket?.state === "grace" ? undefined : livenessOf(place, pulses);
    return alive === undefined || alive.verdict === "alive" ? [] : [alive];
  });
  return doubts.slice(0, 1).map(({ verdict, text }) => `  its own runner is ${verdict}: ${text}`);
}

function resetText(who: string, { by, at, why }: ResetRequest, wall: number): string {
  return `${who} was asked to end by ${by}, ${briefDuration(wall - at)} ago${why === undefined ? "" : `: ${why}`}`;
}

function drainText(drain: Drain, wall: number): string {
  const since = drain.at > 0 ? ` ${briefDuration(wall - drain.at)} ago` : "";
  const ends = drain.until === undefined ? "" : `; that ends in ${briefDuration(drain.until - wall)}`;
  const { by, why } = drain;
  const what = drain.scope === "all" ? "everything" : `${drain.scope} ${drain.name}`;
  return `${what} was drained by ${by}${since}${why === undefined ? "" : `: ${why}`}${ends}`;
}

function estimateText(estimate: Estimate): string {
  const past = `the last ${estimate.runs} runs`;
  if (estimate.kind === "overdue")
    return `no estimate: the holder has held it longer than any of ${past} (at most ${longestText(estimate.longest)})`;
  const { p50, p95 } = estimate;
  return p95 < 1000
    ? `by ${past} it should be free any moment`
    : `by ${past} it should get the lock in about ${briefDuration(p50)}, hardly later than in ${briefDuration(p95)}`;
}

function longestText(ms: number): string {
  return ms < 1000 ? formatDuration(ms) : briefDuration(ms);
}

/** What is known of the runner of a ticket; undefined where nobody asked. */
export function livenessOf({ session }: Pick<Place, "session">, pulses: Pulses): Liveness | undefined {
  const pulse = pulses.get(session);
  return pulses.has(session) ? liveness(pulse) : undefined;
}
