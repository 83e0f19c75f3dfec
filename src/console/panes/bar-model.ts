import { cleanToWidth } from "../../base/display-width.ts";
import { computeCellsWidth, joinCellTexts, type RowCell } from "../theme/cells.ts";
import type { StyleRole } from "../theme/roles.ts";

/**
 * A segment of a bar. If the bar is too narrow, segments are removed from the highest weight down; weight 1 is never
 * removed.
 */
export interface BarSegment {
  text: string;
  role: StyleRole;
  weight: number;
}

/** A line with a background, and segments at its left and its right. */
export interface BarModel {
  left: readonly RowCell[];
  right: readonly RowCell[];
  /** Blanks between them, columns. */
  gap: number;
  /** Role of the blanks. */
  ground: StyleRole;
}

/** Builds a bar from the segments that fit. @param ground  role of the space between them */
export function buildBar(
  width: number,
  left: readonly BarSegment[],
  right: readonly BarSegment[],
  ground: StyleRole,
): BarModel {
  const shown = selectFitting(
    [...left, ...right].filter(({ text }) => text !== ""),
    width,
  );
  const atLeft = left.filter((segment) => shown.has(segment));
  const atRight = right.filter((segment) => shown.has(segment));
  const gap = width - computeCellsWidth(atLeft) - computeCellsWidth(atRight);
  if (gap >= 0) return { left: atLeft, right: atRight, gap, ground };
  return {
    left: [{ text: cleanToWidth(joinCellTexts(atLeft), width), role: ground }],
    right: [],
    gap: 0,
    ground,
  };
}

function selectFitting(segments: readonly BarSegment[], width: number): ReadonlySet<BarSegment> {
  let shown = [...segments];
  while (computeCellsWidth(shown) > width) {
    const least = shown.reduce((worst, segment) => (segment.weight >= worst.weight ? segment : worst));
    if (least.weight <= 1) break;
    shown = shown.filter((segment) => segment !== least);
  }
  return new Set(shown);
}
