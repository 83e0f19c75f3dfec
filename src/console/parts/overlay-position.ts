import type { MouseEvent } from "../terminal/input/event.ts";
import type { OverlayBoxModel } from "./overlay.ts";

/** Columns and rows between the corner of an overlay and its content. */
const FRAME = { columns: 2, rows: 1 };

/** Converts a position of the screen to one in the content of an overlay. */
export function toContentPosition({ left, top }: OverlayBoxModel, event: MouseEvent): MouseEvent {
  return { ...event, column: event.column - left - FRAME.columns, row: event.row - top - FRAME.rows };
}

/** Converts a position in the content of an overlay back to one of the screen. */
export function toScreenPosition({ left, top }: OverlayBoxModel, event: MouseEvent): MouseEvent {
  return { ...event, column: event.column + left + FRAME.columns, row: event.row + top + FRAME.rows };
}
