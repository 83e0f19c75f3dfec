import type { Snapshot } from "../snapshot/snapshot.ts";
import { EVENT_RANKS, type EventDraft, type SnapshotEvent } from "./event.ts";
import { buildOperatorDrafts } from "./operator-drafts.ts";
import { buildRunDrafts } from "./run-drafts.ts";
import { buildExecutionDrafts } from "./schedule-drafts.ts";

/** Wall clocks of two snapshots, ms since the epoch. All events are placed between them. */
interface EventSpan {
  from: number;
  to: number;
}

/** Maximum number of events. */
const LIMIT = 200;

/**
 * Lists the events between two snapshots in their most likely order. Clocks of hosts differ, so an instant from a host
 * is moved to a possible time: between the snapshots, and a grant after the end of the previous holder. The cost is one
 * comparison for each unchanged value.
 * @returns the last events; above the limit, preceded by an event with the number of earlier ones
 */
export function listEventsBetween(before: Snapshot, after: Snapshot, span: EventSpan): SnapshotEvent[] {
  const drafts = [
    ...buildRunDrafts(before, after),
    ...buildExecutionDrafts(before, after),
    ...buildOperatorDrafts(before, after),
  ];
  const timed = sortDrafts(drafts, span);
  const kept = timed.slice(-LIMIT);
  const events = kept.map(toEvent);
  const [first] = events;
  const rest = timed.length - kept.length;
  return first === undefined || rest === 0 ? events : [buildMoreEvent(rest, first.at), ...events];
}

interface TimedDraft {
  draft: EventDraft;
  at: number;
}

function sortDrafts(drafts: readonly EventDraft[], { from, to }: EventSpan): TimedDraft[] {
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
  return timed.sort((a, b) => a.at - b.at || EVENT_RANKS[a.draft.kind] - EVENT_RANKS[b.draft.kind]);
}

function toEvent({ draft, at }: TimedDraft): SnapshotEvent {
  const { kind, tone, subject, host } = draft;
  const words = [kind, ...draft.formatWords(at)].filter((word) => word !== undefined && word !== "");
  return { at, kind, text: words.join("  "), subject, ...(host !== undefined && { host }), tone };
}

function buildMoreEvent(count: number, at: number): SnapshotEvent {
  const text = `and ${count.toLocaleString("en-US")} more changes before`;
  return { at, kind: "more", text, subject: undefined, tone: "quiet" };
}
