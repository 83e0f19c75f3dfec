import { EXIT, SignalboxError } from "../base/errors.ts";
import { nearest, quoted } from "../base/text.ts";
import type { Pulses } from "../model/explain-text.ts";
import { Fold } from "../model/fold.ts";
import type { Picture, Room } from "../model/picture.ts";
import type { Place } from "../protocol/ticket.ts";
import type { KeyRange } from "../protocol/txn.ts";
import { pulses } from "../work/observe/pulse.ts";
import { load } from "../work/observe/read.ts";
import type { Desk } from "./with-store.ts";

/** Sessions that are asked how they are; more would take longer than anybody reads. */
const MOST_SESSIONS = 50;

/** Reads rooms, and parts of others, at one revision. */
export async function sightOf(
  desk: Desk,
  rooms: readonly Room[],
  more: readonly Required<KeyRange>[] = [],
): Promise<Picture> {
  const fold = new Fold(desk.keys, rooms, more);
  await load(desk, fold, { signal: desk.signal });
  return fold.picture();
}

/** How the runners of these tickets are, as far as their sessions tell. */
export function pulsesOf(desk: Desk, places: readonly Place[]): Promise<Pulses> {
  const sessions = places.slice(0, MOST_SESSIONS).map(({ session }) => session);
  return pulses(desk, sessions, desk.signal);
}

/** The range of one key. */
export function only(key: string): Required<KeyRange> {
  return { key, rangeEnd: `${key}\0` };
}

/** @throws SignalboxError 1 that names what was probably meant */
export function unknownOne(kind: string, name: string, known: Iterable<string>): never {
  const meant = nearest(name, known);
  const hint = meant === undefined ? `see: signalbox ls ${kind}s` : `did you mean ${quoted(meant)}?`;
  throw new SignalboxError(EXIT.undone, `there is no ${kind} ${quoted(name)}; ${hint}`);
}
