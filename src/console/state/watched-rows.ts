import { DRAIN_SCOPES } from "../../core/protocol/keys.ts";
import type { ActionableSubject } from "../../site/state/subject.ts";

/** A row whose changes the user is notified of. */
export type WatchedRow = ActionableSubject;

/** Maximum number of watched rows: each is checked for every frame. */
export const MOST_WATCHED = 50;

export function getWatchId(row: WatchedRow): string {
  return row.kind === "drain" ? `drain ${row.scope} ${row.name}` : `${row.kind} ${row.name}`;
}

/** Adds rows, or removes them if all of them are watched already. */
export function toggleWatched(
  watched: readonly WatchedRow[],
  rows: readonly WatchedRow[],
): readonly WatchedRow[] {
  const ids = new Set(rows.map(getWatchId));
  const others = watched.filter((row) => !ids.has(getWatchId(row)));
  const isAll = watched.length - others.length === ids.size;
  return isAll ? others : [...others, ...rows].slice(-MOST_WATCHED);
}

const WATCHED_KINDS = ["lock", "resource", "host", "group", "schedule", "run"] as const;

/** Restores stored rows. Ignores invalid ones. */
export function restoreWatchedRows(kept: unknown): readonly WatchedRow[] {
  return Array.isArray(kept) ? kept.flatMap(restoreRow).slice(-MOST_WATCHED) : [];
}

function restoreRow(kept: unknown): WatchedRow[] {
  if (typeof kept !== "object" || kept === null) return [];
  const { kind: word, name, scope: place } = kept as Record<string, unknown>;
  if (typeof name !== "string" || name.length > 1_000) return [];
  const scope = DRAIN_SCOPES.find((one) => one === place);
  if (word === "drain") return scope === undefined ? [] : [{ kind: word, scope, name }];
  const kind = WATCHED_KINDS.find((one) => one === word);
  return kind === undefined ? [] : [{ kind, name }];
}
