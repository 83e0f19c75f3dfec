import { clean, displayWidth } from "../../base/text.ts";
import type { Role } from "../theme/roles.ts";
import { padTo, type Theme } from "../theme/theme.ts";
import { partsOf, type Range } from "./ranges.ts";
import type { Match } from "./search.ts";

/** Between columns. */
const GAP = 2;
/** Labels take no more than this share of the width where there are details. */
const MOST = 0.5;

/**
 * Matches as lines: label, what it does or why it cannot be chosen, keys at the right edge.
 * @param selected  which one the cursor is on
 * @param width     columns of every line
 */
export function matchLines(
  theme: Theme,
  matches: readonly Match[],
  selected: number,
  width: number,
): string[] {
  const widest = Math.max(0, ...matches.map(({ entry }) => displayWidth(entry.label)));
  const room = Math.max(1, Math.min(widest, Math.floor(width * MOST)));
  return matches.map((match, at) => {
    const line = padTo(matchLine(theme, match, room, width), width);
    return theme.row(line, { isSelected: at === selected, isFocused: true, width });
  });
}

function matchLine(theme: Theme, { entry, label, detail }: Match, room: number, width: number): string {
  const isUsable = entry.disabled === undefined;
  const keys = entry.keys.slice(0, 2).join(" ");
  const left = Math.max(0, width - room - GAP - (keys === "" ? 0 : displayWidth(keys) + GAP));
  const name = padTo(lit(theme, isUsable ? "plain" : "disabled", entry.label, label, room), room);
  const told = isUsable
    ? lit(theme, "quiet", entry.detail, detail, left)
    : theme.style("disabled", clean(`(${entry.disabled})`, left));
  const start = `${name}${" ".repeat(GAP)}${padTo(told, left)}`;
  return keys === "" ? start : `${start}${" ".repeat(GAP)}${theme.style("key", keys)}`;
}

/** A text with the letters that were looked for standing out; those that are cut off do not. */
function lit(theme: Theme, role: Role, text: string, ranges: readonly Range[], room: number): string {
  const cut = clean(text, room);
  const whole = cut === text ? text.length : Math.max(0, cut.length - 1); // without the ellipsis
  const shown = ranges
    .filter(([from]) => from < whole)
    .map(([from, to]) => [from, Math.min(to, whole)] as const);
  const parts = partsOf(cut, shown).map((part) =>
    part.isWithin ? theme.style("match", part.text) : part.text,
  );
  return theme.style(role, parts.join(""));
}
