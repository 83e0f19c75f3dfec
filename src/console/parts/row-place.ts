import type { OverlayPlace } from "./overlay.ts";
import type { DataAccess, LayoutAccess, StateAccess, TableAccess } from "./parts.ts";
import { computeTitleHeight } from "./table-notes.ts";

/** Lines above the table: header and tabs. */
const ABOVE = 2;
/** Columns between the edge of the table and a box next to a row: behind the mark and the beginning of the name. */
const INDENT = 12;

/** Returns where the row under the cursor is on the screen; the middle if it is not on the screen. */
export function findRowPlace(app: DataAccess & LayoutAccess & StateAccess & TableAccess): OverlayPlace {
  const layout = app.getLayout();
  const { focus, tabs, tab } = app.state;
  if (layout?.table === undefined || focus !== "table") return "middle";
  const { index, top } = tabs[tab].cursor;
  const left = layout.explorer === undefined ? 0 : layout.explorer.width + 1;
  return { column: left + INDENT, row: ABOVE + computeTitleHeight(app) + index - top };
}
