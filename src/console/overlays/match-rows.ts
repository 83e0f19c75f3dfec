import { cleanToWidth, computeDisplayWidth } from "../../base/display-width.ts";
import { padCells, padText, type RowCell, type RowModel } from "../theme/cells.ts";
import type { StyleRole } from "../theme/roles.ts";
import { splitByRanges, type TextRange } from "./ranges.ts";
import type { PaletteMatch } from "./search.ts";

/** Columns between two columns of text. */
const GAP = 2;
/** Maximum share of the width for labels, so that details have room. */
const MOST = 0.5;

/**
 * Builds the rows of matches: label, then the detail or the reason why it cannot be chosen, and keys at the right edge.
 * @param selected  index of the match under the cursor
 * @param width     columns of every row
 */
export function buildMatchRows(
  matches: readonly PaletteMatch[],
  selected: number,
  width: number,
): RowModel[] {
  const widest = Math.max(0, ...matches.map(({ entry }) => computeDisplayWidth(entry.label)));
  const room = Math.max(1, Math.min(widest, Math.floor(width * MOST)));
  return matches.map((match, at) => ({
    cells: buildMatchCells(match, room, width),
    selection: at === selected ? "focused" : undefined,
  }));
}

function buildMatchCells({ entry, label, detail }: PaletteMatch, room: number, width: number): RowCell[] {
  const isUsable = entry.disabled === undefined;
  const keys = entry.keys.slice(0, 2).join(" ");
  const left = Math.max(0, width - room - GAP - (keys === "" ? 0 : computeDisplayWidth(keys) + GAP));
  const gap = { text: " ".repeat(GAP) };
  return [
    ...padCells(highlightRanges(isUsable ? "plain" : "disabled", entry.label, label, room), room),
    gap,
    ...(isUsable
      ? padCells(highlightRanges("quiet", entry.detail, detail, left), left)
      : [{ text: padText(cleanToWidth(`(${entry.disabled})`, left), left), role: "disabled" as const }]),
    ...(keys === "" ? [] : [gap, { text: keys, role: "key" as const }]),
  ];
}

/** Highlights the letters that match the query. Letters that are cut off are not highlighted. */
function highlightRanges(
  role: StyleRole,
  text: string,
  ranges: readonly TextRange[],
  room: number,
): RowCell[] {
  const cut = cleanToWidth(text, room);
  const whole = cut === text ? text.length : Math.max(0, cut.length - 1); // without the ellipsis
  const shown = ranges
    .filter(([from]) => from < whole)
    .map(([from, to]) => [from, Math.min(to, whole)] as const);
  return splitByRanges(cut, shown).map((part) =>
    part.isWithin ? { text: part.text, role: "match", ground: role } : { text: part.text, role },
  );
}
