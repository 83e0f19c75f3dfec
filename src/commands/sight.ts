import { EXIT, SignalboxError } from "../base/errors.ts";
import { nearest, quoted } from "../base/text.ts";
import { isCompacted } from "../etcd/persist.ts";
import type { Pulses } from "../model/explain-text.ts";
import { Fold } from "../model/fold.ts";
import type { Picture, Room } from "../model/picture.ts";
import { auditTime } from "../protocol/audit.ts";
import type { Place } from "../protocol/ticket.ts";
import type { KeyRange } from "../protocol/txn.ts";
import { pulses } from "../work/observe/pulse.ts";
import { load } from "../work/observe/read.ts";
import type { Desk } from "./with-store.ts";

/** Sessions that are asked how they are; more would take longer than anybody reads. */
const MOST_SESSIONS = 50;
/** A read in two steps at one revision is begun again so often, when that one is compacted away in between. */
const TRIES = 3;
/** Records of what operators did are looked at so far back, ms. */
const AUDIT_SPAN = 30 * 86_400_000;

/**
 * Reads rooms, and parts of others, at one revision.
 * @param revision  that of an earlier read; now where there is none
 */
export async function sightOf(
  desk: Desk,
  rooms: readonly Room[],
  more: readonly Required<KeyRange>[] = [],
  revision?: bigint,
): Promise<Picture> {
  const fold = new Fold(desk.keys, rooms, more);
  await load(desk, fold, { signal: desk.signal, revision });
  return fold.picture();
}

/** Reads in several steps, again from the start when a compaction comes between them. @throws StoreError */
export async function inOneSight<T>(read: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await read();
    } catch (error) {
      if (!isCompacted(error) || left <= 1) throw error;
    }
  }
}

/** How the runners of these tickets are, as far as their sessions tell; of many, only those that come first. */
export function pulsesOf(desk: Desk, places: readonly Pick<Place, "session">[]): Promise<Pulses> {
  const sessions = new Set(places.map(({ session }) => session));
  return pulses(desk, [...sessions].slice(0, MOST_SESSIONS), desk.signal);
}

/** The range of one key. */
export function only(key: string): Required<KeyRange> {
  return { key, rangeEnd: `${key}\0` };
}

/** What operators did of late: ids of records are in the order of time. */
export function recentAudit({ keys, clock }: Desk): Required<KeyRange> {
  const { rangeEnd } = keys.audits();
  return { key: keys.audit(auditTime(clock.wall() - AUDIT_SPAN)), rangeEnd };
}

/** @throws SignalboxError 1 that names what was probably meant */
export function unknownOne(kind: string, name: string, known: Iterable<string>, more = ""): never {
  const meant = nearest(name, known);
  const hint = meant === undefined ? `see: signalbox ls ${kind}s` : `did you mean ${quoted(meant)}?`;
  throw new SignalboxError(EXIT.undone, `there is no ${kind} ${quoted(name)}${more}; ${hint}`);
}
