import { briefDuration } from "../base/duration.ts";
import { holds } from "../protocol/admission.ts";
import type { Place } from "../protocol/ticket.ts";
import { type Liveness, liveness, type Pulse } from "./alive.ts";
import { whoIs } from "./claims.ts";
import type { Explanation, Obstacle } from "./explain.ts";
import { claimLine, drainLine } from "./foresight-text.ts";

/** What sessions said, by their ids; null: one that could not be asked. */
export type Pulses = ReadonlyMap<bigint, Pulse | null>;

/** Runs ahead that are named; of more, only how many they are. */
const MANY = 5;

/** An explanation in lines, the answer first. Texts from tickets are not cleaned. @param wall  ms since the epoch */
export function explanationLines(explanation: Explanation, wall: number, pulses: Pulses): string[] {
  const { claim, obstacles, drains, reset, estimate } = explanation;
  return [
    `${claimLine(claim, wall)}: ${verdict(explanation)}`,
    ...obstacles.flatMap((obstacle) => obstacleLines(obstacle, wall, pulses)),
    ...drains.map(
      (drain) =>
        `  ${drainLine(drain)}${drain.until === undefined ? "" : `, ends in ${briefDuration(drain.until - wall)}`}`,
    ),
    ...(reset === undefined
      ? []
      : [`  it was asked to leave by ${reset.by}${reset.why === undefined ? "" : `: ${reset.why}`}`]),
    ...(estimate === undefined ? [] : [`  ${estimateText(estimate)}`]),
  ];
}

function estimateText({ p50, p95 }: NonNullable<Explanation["estimate"]>): string {
  if (p95 <= 0) return "the holder has taken longer than 95 % of the runs in the lock's history";
  return `by the lock's history it may wait ${briefDuration(p50)} more, hardly longer than ${briefDuration(p95)}`;
}

function verdict({ state, obstacles, drains }: Explanation): string {
  switch (state) {
    case "holds":
      return "it waits for nothing";
    case "malformed":
      return "its ticket cannot be read";
    case "ready":
      return "nothing stands in its way, it is about to be granted";
    case "drained":
      return `it may not start, for ${drains[0] === undefined ? "a drain" : drainLine(drains[0])}`;
    case "waits":
      return obstacles
        .filter(({ missing }) => missing > 0)
        .map(obstacleText)
        .join(", and ");
  }
}

function obstacleText({ kind, name, ahead, missing }: Obstacle): string {
  const holder = ahead.find(holds);
  if (kind === "resource")
    return `${missing} ${missing === 1 ? "unit" : "units"} of ${name} must become free first`;
  const others = ahead.length - (holder === undefined ? 0 : 1);
  const between = others === 0 ? "" : `, and ${others} ${others === 1 ? "waits" : "wait"} before it`;
  return holder === undefined
    ? `${others} before it for lock ${name}`
    : `${whoIs(holder)} holds lock ${name}${between}`;
}

function obstacleLines(obstacle: Obstacle, wall: number, pulses: Pulses): string[] {
  const { kind, name, position, count, used, total, missing, ahead } = obstacle;
  const units = kind === "resource" ? `, asks for ${count}, others hold ${used} of ${total}` : "";
  const turn = missing === 0 ? ": its turn has come here, it waits elsewhere" : "";
  const named = ahead.slice(0, MANY).map((place) => `    ${aheadText(kind, place, wall, pulses)}`);
  return [
    `  ${kind} ${name}: position ${position}${units}${turn}`,
    ...named,
    ...(ahead.length > MANY ? [`    and ${ahead.length - MANY} more`] : []),
  ];
}

function aheadText(kind: string, place: Place, wall: number, pulses: Pulses): string {
  const { ticket } = place;
  if (ticket === undefined) return `${whoIs(place)}: nobody knows what it weighs`;
  const since = ticket.grantedAt ?? ticket.enqueuedAt;
  const units = kind === "resource" ? ` ${ticket.count}` : "";
  const alive = livenessOf(place, pulses);
  const doubt = alive === undefined || alive.verdict === "alive" ? "" : `; ${alive.text}`;
  return `${ticket.state}${units} by ${whoIs(place)} (${ticket.command}) for ${briefDuration(wall - since)}${doubt}`;
}

/** What is known of the runner of a ticket; undefined where nobody asked. */
export function livenessOf({ session }: Place, pulses: Pulses): Liveness | undefined {
  const pulse = pulses.get(session);
  return pulses.has(session) ? liveness(pulse) : undefined;
}
