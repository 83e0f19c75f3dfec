import { cleanToWidth } from "../../../base/display-width.ts";
import { formatBriefDuration, formatInstant } from "../../../base/duration.ts";
import type { CollisionReport } from "../../../model/insight/collisions.ts";
import type { SpreadSuggestion } from "../../../model/insight/spread.ts";
import { formatShortList } from "../../../model/views/short-list.ts";
import { createRow, type RowModel } from "../../theme/cells.ts";

/** Number of names in a line. */
const SHORT = 4;

/** Describes what competes, a line each. Not cleaned. */
export function describeCollisions({ starts, leases, overlaps }: CollisionReport): string[] {
  return [
    ...starts.map(
      ({ ids, minutes, first }) =>
        `same minute: ${formatShortList(ids, SHORT)} (${minutes}x, first ${formatInstant(first)})`,
    ),
    ...leases.map(
      ({ resource, peak, total, times, first, ids }) =>
        `resource ${resource}: ${peak} of ${total} units (${times}x, first ${formatInstant(first)}): ${formatShortList(ids, SHORT)}`,
    ),
    ...overlaps.map(({ earlier, later, lock, times, first, longest }) => {
      const by = lock === undefined ? "its own overlap rule" : `lock ${lock}`;
      return `${earlier} has not ended when ${later} starts, up to ${formatBriefDuration(longest)} (${times}x, first ${formatInstant(first)}; excluded by ${by})`;
    }),
  ];
}

/** Says what a suggestion would change. Not cleaned. */
export function describeSuggestion(
  { id, flag, value, cron }: SpreadSuggestion,
  present: string | undefined,
): string {
  return cron === undefined
    ? `${id}: ${flag} ${formatBriefDuration(value)}`
    : `${id}: cron ${present ?? ""} becomes ${cron}`;
}

/** Builds the rows: what competes, then the suggestions with the cursor on one. */
export function buildCollisionRows(
  lines: readonly string[],
  suggestions: readonly string[],
  cursor: number,
  { width, height }: { width: number; height: number },
): RowModel[] {
  const list = Math.max(1, Math.min(suggestions.length, Math.ceil((height - 3) / 2)));
  const room = Math.max(1, height - list - 3);
  const top = Math.max(0, Math.min(cursor - Math.floor(list / 2), suggestions.length - list));
  const left = lines.length - room;
  const shown =
    left > 0 ? [...lines.slice(0, room - 1), `and ${left + 1} more: see signalbox collisions`] : lines;
  return [
    ...shown.map((line) => createRow(cleanToWidth(line, width))),
    createRow(""),
    createRow(suggestions.length === 0 ? "no other minute helps" : "to spread them", "heading"),
    ...suggestions.slice(top, top + list).map((text, at): RowModel => {
      const isHere = top + at === cursor;
      return createRow(cleanToWidth(`${isHere ? ">" : " "} ${text}`, width), isHere ? "key" : "plain");
    }),
  ];
}
