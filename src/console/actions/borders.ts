import type { ConsoleParts } from "../parts/console-parts.ts";
import { type Border, type Pane, setUserSize } from "../state/console-state.ts";
import type { Layout } from "../state/layout.ts";
import type { MouseEvent } from "../terminal/input-event.ts";

/** Maximum time between the two presses of a double click, ms. */
const DOUBLE = 400;

/** Starts to drag the border under the pointer. A double click resets it. @returns whether there is a border */
export function pressBorder(app: ConsoleParts, event: MouseEvent): boolean {
  const layout = app.getLayout();
  const border = layout && findBorderAt(layout, event);
  const at = app.getWallTime();
  const { pressed } = app.state;
  app.update((state) => ({ ...state, pressed: border && { border, at, isHeld: true } }));
  if (border === undefined) return false;
  const isDouble = pressed?.border === border && at >= pressed.at && at - pressed.at <= DOUBLE;
  if (isDouble) app.update((state) => setUserSize(state, border, undefined));
  return true;
}

/** Moves the border that was pressed to the pointer. */
export function dragBorder(app: ConsoleParts, event: MouseEvent): void {
  const layout = app.getLayout();
  const { pressed } = app.state;
  if (layout === undefined || pressed?.isHeld !== true) return;
  app.update((state) =>
    setUserSize(state, pressed.border, computeDraggedSize(layout, pressed.border, event)),
  );
}

/** Ends dragging. */
export function releaseBorder(app: ConsoleParts): void {
  app.update((state) =>
    state.pressed === undefined ? state : { ...state, pressed: { ...state.pressed, isHeld: false } },
  );
}

/** Rows above the panes: header and tabs. */
const ABOVE = 2;

/** Returns the border at a position of the screen. */
export function findBorderAt(
  layout: Layout,
  { column, row }: Pick<MouseEvent, "column" | "row">,
): Border | undefined {
  const { explorer, table, detail, panel, isBeside, screen } = layout;
  if (
    panel !== undefined &&
    panel.height < screen.height - ABOVE - 1 &&
    row === screen.height - 2 - panel.height
  )
    return "panel";
  if (row < 1 || row > screen.height - 2 - (panel === undefined ? 0 : panel.height + 1)) return undefined;
  if (explorer !== undefined && column === explorer.width && explorer.width < screen.width) return "explorer";
  const left = explorer === undefined ? 0 : explorer.width + 1;
  if (table === undefined || detail === undefined || column < left || row < ABOVE) return undefined;
  if (isBeside) return column === left + table.width ? "detailWidth" : undefined;
  return row === ABOVE + table.height ? "detailHeight" : undefined;
}

/** Returns the size of a pane whose border is at the pointer. */
function computeDraggedSize({ screen, panel }: Layout, border: Border, { column, row }: MouseEvent): number {
  const bottom = screen.height - 1; // the status bar
  switch (border) {
    case "explorer":
      return Math.max(1, column);
    case "panel":
      return Math.max(1, bottom - 1 - row);
    case "detailHeight":
      return Math.max(1, bottom - 1 - row - (panel === undefined ? 0 : panel.height + 1));
    case "detailWidth":
      return Math.max(1, screen.width - 1 - column);
  }
}

/** Columns and rows by which a key changes a size. */
const STEP = { columns: 4, rows: 2 };

/** Makes the pane with the keyboard larger or smaller. */
export function resizePane(app: ConsoleParts, by: 1 | -1): void {
  const layout = app.getLayout();
  const change = layout && findSizeChange(layout, app.state.focus);
  if (layout === undefined || change === undefined)
    return app.showToast("this pane has no border that can move", "quiet");
  const { border, size, sign } = change;
  const step = border === "explorer" || border === "detailWidth" ? STEP.columns : STEP.rows;
  app.update((state) => setUserSize(state, border, Math.max(1, size + by * sign * step)));
}

/** Returns the border that a pane is resized with. A larger table is a smaller detail. */
function findSizeChange(
  { explorer, detail, panel, table, isBeside, screen }: Layout,
  focus: Pane,
): { border: Border; size: number; sign: 1 | -1 } | undefined {
  if (focus === "explorer")
    return explorer && table && explorer.width < screen.width
      ? { border: "explorer", size: explorer.width, sign: 1 }
      : undefined;
  if (focus === "panel") return panel && table ? { border: "panel", size: panel.height, sign: 1 } : undefined;
  if (detail === undefined || table === undefined) return undefined;
  const sign = focus === "detail" ? 1 : -1;
  return isBeside
    ? { border: "detailWidth", size: detail.width, sign }
    : { border: "detailHeight", size: detail.height, sign };
}

/** Returns all panes to their computed sizes. */
export function resetSizes(app: ConsoleParts): void {
  app.update((state) => ({ ...state, sizes: {} }));
  app.showToast("sizes reset");
}
