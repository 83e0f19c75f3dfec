import type { Place, Queue } from "../protocol/ticket.ts";
import { whoIs } from "./claims.ts";

/**
 * What happened in a queue between two looks, one sentence each, in its order then; empty when nothing did. Texts from
 * tickets are not cleaned.
 */
export function differences(before: Queue, after: Queue): string[] {
  const now = new Map(after.map((place) => [place.key, place]));
  const then = new Set(before.map(({ key }) => key));
  const moved = before.flatMap((place) => fateOf(place, now.get(place.key)) ?? []);
  const arrived = after.filter(({ key }) => !then.has(key));
  return [...moved, ...arrived.map((place) => `${whoIs(place)} has come (${stateOf(place)})`)];
}

function fateOf(before: Place, after: Place | undefined): string | undefined {
  const who = whoIs(before);
  if (after === undefined || after.createRevision !== before.createRevision)
    return `${who} has gone (it was ${stateOf(before)})`;
  if (after.modRevision === before.modRevision) return undefined;
  const reset = after.ticket?.reset;
  if (reset !== undefined && before.ticket?.reset === undefined)
    return `${who} was asked to end by ${reset.by}`;
  if (stateOf(before) !== stateOf(after)) return `${who} was ${stateOf(before)}, is ${stateOf(after)}`;
  return `the ticket of ${who} was written again`;
}

function stateOf({ ticket }: Place): string {
  return ticket?.state ?? "malformed";
}
