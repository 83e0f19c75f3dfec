import type { Picture } from "../picture.ts";
import type { Draft, EventKind, PictureEvent } from "./event.ts";
import { keptDrafts } from "./kept.ts";
import { runDrafts } from "./runs.ts";
import { executionDrafts } from "./schedules.ts";

/** When the pictures were taken, and how much is to be told. */
export interface Span {
  /** Wall clocks, ms since the epoch, of the first picture and of the second. Nothing is said to have happened outside. */
  from?: number;
  to: number;
  /** Events at most. Default 200. */
  limit?: number;
}

const LIMIT = 200;

/**
 * What happened between two pictures, in the order in which it is likely to have happened. Clocks of hosts differ, so an
 * instant that a host states is moved to where it can have been: between the pictures, and after the end of whoever was
 * in the way. Costs a look for each thing that did not change.
 * @returns the last events, after one that says how many there are before them, where there are more than the limit
 */
export function eventsBetween(before: Picture, after: Picture, span: Span): PictureEvent[] {
  const drafts = [
    ...runDrafts(before, after),
    ...executionDrafts(before, after),
    ...keptDrafts(before, after),
  ];
  const timed = inOrder(drafts, span);
  const kept = timed.slice(-(span.limit ?? LIMIT));
  const events = kept.map(eventOf);
  const [first] = events;
  const rest = timed.length - kept.length;
  return first === undefined || rest === 0 ? events : [moreEvent(rest, first.at), ...events];
}

interface Timed {
  draft: Draft;
  at: number;
}

function inOrder(drafts: readonly Draft[], { from = Number.NEGATIVE_INFINITY, to }: Span): Timed[] {
  const timed = drafts.map((draft) => ({
    draft,
    at: Math.max(from, Math.min(to, draft.at ?? to)),
  }));
  const freed = new Map<string, number>();
  for (const { draft, at } of timed) {
    if (draft.kind === "ended" && draft.lock !== undefined)
      freed.set(draft.lock, Math.max(at, freed.get(draft.lock) ?? at));
  }
  for (const one of timed) {
    if (one.draft.kind === "granted") one.at = Math.max(one.at, freed.get(one.draft.lock ?? "") ?? one.at);
  }
  return timed.sort((a, b) => a.at - b.at || rank(a.draft) - rank(b.draft));
}

/** Of what happens at one instant, causes come before effects. */
const RANKS: Readonly<Record<EventKind, number>> = {
  ...{ more: 0, host: 1, audit: 2, configured: 2, drained: 2, undrained: 2, reset: 3, malformed: 3 },
  ...{ ended: 4, left: 4, granted: 5, started: 5, admitted: 6, waiting: 7 },
};

function rank({ kind }: Draft): number {
  return RANKS[kind];
}

function eventOf({ draft, at }: Timed): PictureEvent {
  const { kind, tone, subject, host } = draft;
  const words = [kind, ...draft.words(at)].filter((word) => word !== undefined && word !== "");
  return { at, kind, text: words.join("  "), subject, ...(host !== undefined && { host }), tone };
}

function moreEvent(count: number, at: number): PictureEvent {
  const text = `and ${count.toLocaleString("en-US")} more changes before`;
  return { at, kind: "more", text, subject: undefined, tone: "quiet" };
}
