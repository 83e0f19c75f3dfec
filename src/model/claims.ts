import { holds } from "../protocol/admission.ts";
import type { Place } from "../protocol/ticket.ts";
import type { NamedQueue, Picture } from "./picture.ts";

/** A ticket with the queue it stands in. */
export interface Stand {
  queue: NamedQueue;
  place: Place;
}

/** Every ticket of one run. */
export interface Claim {
  run: string;
  stands: readonly Stand[];
}

/** The claims of a picture by run id. A key put by hand, that names no run, is a claim under its last segment. */
export function claimsOf(picture: Pick<Picture, "queues">): Map<string, Claim> {
  const stands = new Map<string, Stand[]>();
  for (const queue of picture.queues.values()) {
    for (const place of queue.places) {
      const known = stands.get(place.run);
      if (known === undefined) stands.set(place.run, [{ queue, place }]);
      else known.push({ queue, place });
    }
  }
  return new Map([...stands].map(([run, own]) => [run, { run, stands: own }]));
}

/** Whether a claim is granted: its tickets are all held or in grace. */
export function isHolder({ stands }: Claim): boolean {
  return stands.every(({ place }) => holds(place));
}

/** Claims that a word may mean: a run's id, the beginning of one (4 characters at least), or `HOST:PID`. */
export function claimsNamed(claims: ReadonlyMap<string, Claim>, word: string): Claim[] {
  const exact = claims.get(word);
  if (exact !== undefined) return [exact];
  const isMeant = ({ run, stands }: Claim) =>
    (word.length >= 4 && run.startsWith(word)) ||
    stands.some(({ place: { ticket } }) => ticket !== undefined && `${ticket.host}:${ticket.pid}` === word);
  return [...claims.values()].filter(isMeant);
}

/** Who a ticket says it is, in a word: `web1.example.com:3121`. Not cleaned. */
export function whoIs({ run, ticket }: Place): string {
  return ticket === undefined ? `malformed ticket ${run}` : `${ticket.host}:${ticket.pid}`;
}
