import type { OverlayContent } from "../parts/overlay.ts";
import type { RowModel } from "../theme/cells.ts";

export const BLANK_ROW: RowModel = { cells: [] };

/** Lists the rows of an overlay's content, from the top. */
export function listContentRows(content: OverlayContent): readonly RowModel[] {
  switch (content.kind) {
    case "text":
      return content.rows;
    case "filter":
      return content.fault === undefined ? [content.row] : [content.row, content.fault];
    case "palette":
      return [content.field, ...content.matches, ...content.notes];
    case "dialog": {
      const { preview, fields, command, confirmation, faults } = content;
      return [...preview, BLANK_ROW, ...fields, BLANK_ROW, command, ...confirmation, ...faults];
    }
  }
}
