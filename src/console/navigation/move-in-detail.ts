import type { DetailLine } from "../../commands/see/detail.ts";
import { findTargetLines } from "../parts/detail-lines.ts";
import type { ConsoleState } from "../state/console-state.ts";
import { scrollBy } from "../state/scroll.ts";

type DetailState = ConsoleState["detail"];

/**
 * Moves in the detail: selects the next line with a target if it is visible, otherwise scrolls by one line. So the
 * same keys read all lines and reach every target.
 * @param height  number of visible lines
 * @param by      up, down, or a key that scrolls
 */
export function moveInDetail(
  { top, row }: DetailState,
  lines: readonly DetailLine[],
  height: number,
  by: string,
): DetailState {
  const scrolled = scrollBy(by, top, lines.length, height);
  if (by !== "down" && by !== "up") return { top: scrolled };
  const targets = findTargetLines(lines);
  const next = findNextRow(targets, row, by, top);
  const line = next === undefined ? undefined : targets[next];
  const getLastLine = (first: number) => first + height - (first + height < lines.length ? 2 : 1);
  if (line !== undefined && line >= top && line <= getLastLine(top)) return { top, row: next };
  if (line !== undefined && line >= scrolled && line <= getLastLine(scrolled))
    return { top: scrolled, row: next };
  const here = row === undefined ? undefined : targets[row];
  const isInSight = here !== undefined && here >= scrolled && here <= getLastLine(scrolled);
  return { top: scrolled, row: isInSight && by === "down" ? row : undefined };
}

/**
 * Returns the target before or after the selected one. Without a selection, returns the first one below the top, or
 * the last one above it.
 */
function findNextRow(
  targets: readonly number[],
  row: number | undefined,
  by: "up" | "down",
  top: number,
): number | undefined {
  const to =
    row !== undefined
      ? row + (by === "down" ? 1 : -1)
      : by === "down"
        ? targets.findIndex((line) => line >= top)
        : targets.findLastIndex((line) => line < top);
  return to >= 0 && to < targets.length ? to : undefined;
}
