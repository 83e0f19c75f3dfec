import { clean, computeDisplayWidth } from "../../../base/text.ts";
import type { StyleRole } from "../../theme/roles.ts";
import { padToWidth, type Theme } from "../../theme/theme.ts";
import { splitByRanges, type TextRange } from "./ranges.ts";
import type { PaletteMatch } from "./search.ts";

/** Columns between two columns of text. */
const GAP = 2;
/** Maximum share of the width for labels, so that details have room. */
const MOST = 0.5;

/**
 * Renders matches as lines: label, then the detail or the reason why it cannot be chosen, and keys at the right edge.
 * @param selected  index of the match under the cursor
 * @param width     columns of every line
 */
export function renderMatches(
  theme: Theme,
  matches: readonly PaletteMatch[],
  selected: number,
  width: number,
): string[] {
  const widest = Math.max(0, ...matches.map(({ entry }) => computeDisplayWidth(entry.label)));
  const room = Math.max(1, Math.min(widest, Math.floor(width * MOST)));
  return matches.map((match, at) => {
    const line = padToWidth(renderMatch(theme, match, room, width), width);
    return theme.styleRow(line, { isSelected: at === selected, isFocused: true, width });
  });
}

function renderMatch(
  theme: Theme,
  { entry, label, detail }: PaletteMatch,
  room: number,
  width: number,
): string {
  const isUsable = entry.disabled === undefined;
  const keys = entry.keys.slice(0, 2).join(" ");
  const left = Math.max(0, width - room - GAP - (keys === "" ? 0 : computeDisplayWidth(keys) + GAP));
  const name = padToWidth(
    highlightRanges(theme, isUsable ? "plain" : "disabled", entry.label, label, room),
    room,
  );
  const told = isUsable
    ? highlightRanges(theme, "quiet", entry.detail, detail, left)
    : theme.style("disabled", clean(`(${entry.disabled})`, left));
  const start = `${name}${" ".repeat(GAP)}${padToWidth(told, left)}`;
  return keys === "" ? start : `${start}${" ".repeat(GAP)}${theme.style("key", keys)}`;
}

/** Highlights the letters that match the query. Letters that are cut off are not highlighted. */
function highlightRanges(
  theme: Theme,
  role: StyleRole,
  text: string,
  ranges: readonly TextRange[],
  room: number,
): string {
  const cut = clean(text, room);
  const whole = cut === text ? text.length : Math.max(0, cut.length - 1); // without the ellipsis
  const shown = ranges
    .filter(([from]) => from < whole)
    .map(([from, to]) => [from, Math.min(to, whole)] as const);
  const parts = splitByRanges(cut, shown).map((part) =>
    part.isWithin ? theme.style("match", part.text) : part.text,
  );
  return theme.style(role, parts.join(""));
}
