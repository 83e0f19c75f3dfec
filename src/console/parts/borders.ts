import type { ConsoleApp } from "../console-app.ts";
import { type Border, type ConsoleState, setUserSize } from "../state/console-state.ts";
import type { Layout } from "../state/layout.ts";
import type { MouseEvent } from "../terminal/input-event.ts";

/** Maximum time between the two presses of a double click, ms. */
const DOUBLE_CLICK_MS = 400;

/** Starts to drag a border. A double click resets it. */
export function pressBorder(app: ConsoleApp, border: Border): void {
  const at = app.getPresentTime();
  const { pressed, zoomed } = app.state;
  if (zoomed !== undefined) return;
  const isDouble = pressed?.border === border && at >= pressed.at && at - pressed.at <= DOUBLE_CLICK_MS;
  app.update((state) => ({
    ...(isDouble ? setUserSize(state, border, undefined) : state),
    pressed: { border, at, isHeld: true },
  }));
}

/** Moves the border that was pressed to the pointer. */
export function dragBorder(app: ConsoleApp, event: MouseEvent): void {
  const layout = app.getLayout();
  const { pressed } = app.state;
  if (layout === undefined || pressed?.isHeld !== true) return;
  app.update((state) =>
    setUserSize(state, pressed.border, computeDraggedSize(layout, pressed.border, event)),
  );
}

/** Ends dragging. */
export function releaseBorder(app: ConsoleApp): void {
  app.update((state) =>
    state.pressed === undefined ? state : { ...state, pressed: { ...state.pressed, isHeld: false } },
  );
}

/** Returns the size of a pane whose border is at the pointer. */
function computeDraggedSize(
  { screen, panel, rail, mainWidth }: Layout,
  border: Border,
  { column, row }: MouseEvent,
): number {
  const bottom = screen.height - 1; // the status bar
  switch (border) {
    case "explorer":
      return Math.max(1, column - (rail?.width ?? 0));
    case "split":
      return Math.max(1, column - (screen.width - mainWidth));
    case "panel":
      return Math.max(1, bottom - 1 - row);
    case "detailHeight":
      return Math.max(1, bottom - 1 - row - (panel === undefined ? 0 : panel.height + 1));
    case "detailWidth":
      return Math.max(1, screen.width - 1 - column);
  }
}

/** Columns and rows by which a key changes a size. */
const BORDER_STEP = { columns: 4, rows: 2 };

/** Makes the focused pane larger or smaller. */
export function resizePane(app: ConsoleApp, by: 1 | -1): void {
  const layout = app.getLayout();
  const change = layout && findSizeChange(layout, app.state);
  if (layout === undefined || change === undefined)
    return app.showToast("this pane has no border that can move", "quiet");
  const { border, size, sign } = change;
  const isWidth = border === "explorer" || border === "split" || border === "detailWidth";
  const step = isWidth ? BORDER_STEP.columns : BORDER_STEP.rows;
  app.update((state) => setUserSize(state, border, Math.max(1, size + by * sign * step)));
}

/** Returns the border with which a pane is resized. The table grows when the detail shrinks. */
function findSizeChange(
  { explorer, detail, panel, table, beside, isBeside, isStacked, screen }: Layout,
  { focus, split }: ConsoleState,
): { border: Border; size: number; sign: 1 | -1 } | undefined {
  if (focus === "explorer")
    return explorer && table && explorer.width < screen.width
      ? { border: "explorer", size: explorer.width, sign: 1 }
      : undefined;
  if (focus === "panel") return panel && table ? { border: "panel", size: panel.height, sign: 1 } : undefined;
  if (focus === "table" && table && beside && !isStacked)
    return split?.isRight
      ? { border: "split", size: table.width, sign: 1 }
      : { border: "split", size: beside.width, sign: -1 };
  if (detail === undefined || table === undefined) return undefined;
  const sign = focus === "detail" ? 1 : -1;
  return isBeside
    ? { border: "detailWidth", size: detail.width, sign }
    : { border: "detailHeight", size: detail.height, sign };
}

/** Resets all panes to their computed sizes. */
export function resetSizes(app: ConsoleApp): void {
  app.update((state) => ({ ...state, sizes: {} }));
  app.showToast("sizes reset");
}
