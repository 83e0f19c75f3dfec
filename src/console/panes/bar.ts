import { clean, computeStyledWidth, stripStyles } from "../../base/text.ts";
import type { StyleRole } from "../theme/roles.ts";
import { padToWidth, type Theme } from "../theme/theme.ts";

/**
 * A segment of a bar. If the bar is too narrow, segments are removed from the highest weight down; weight 1 is never
 * removed.
 */
export interface BarSegment {
  text: string;
  role: StyleRole;
  weight: number;
}

/**
 * Renders segments at the left and the right of one line with a background.
 * @param ground  role of the space between them
 */
export function renderBar(
  theme: Theme,
  width: number,
  left: readonly BarSegment[],
  right: readonly BarSegment[],
  ground: StyleRole,
): string {
  const all = selectFitting(
    [...left, ...right].filter(({ text }) => text !== ""),
    width,
  );
  const paint = (pieces: readonly BarSegment[]) =>
    pieces
      .filter((piece) => all.has(piece))
      .map(({ role, text }) => theme.style(role, text))
      .join("");
  const [start, end] = [paint(left), paint(right)];
  const gap = Math.max(0, width - computeStyledWidth(start) - computeStyledWidth(end));
  const room = padToWidth(start + theme.style(ground, " ".repeat(gap)) + end, width);
  return computeStyledWidth(room) > width ? theme.style(ground, clean(stripStyles(start), width)) : room;
}

function selectFitting(pieces: readonly BarSegment[], width: number): ReadonlySet<BarSegment> {
  let shown = [...pieces];
  const computeTotal = () => shown.reduce((sum, { text }) => sum + computeStyledWidth(text), 0);
  while (computeTotal() > width) {
    const least = shown.reduce((worst, piece) => (piece.weight >= worst.weight ? piece : worst));
    if (least.weight <= 1) break;
    shown = shown.filter((piece) => piece !== least);
  }
  return new Set(shown);
}
