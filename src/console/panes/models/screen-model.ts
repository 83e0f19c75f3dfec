import type { OverlayBoxModel } from "../../parts/overlay.ts";
import type { ConsoleData } from "../../parts/parts.ts";
import { computeMainWidth, type Size } from "../../state/layout.ts";
import type { RowModel } from "../../theme/cells.ts";
import type { BarModel } from "./bar-model.ts";
import { buildSafely } from "./build-safely.ts";
import { buildDetailRows } from "./detail-rows.ts";
import { buildExplorerRows } from "./explorer-rows.ts";
import { buildHeaderModel } from "./header-model.ts";
import { buildOverlayBoxes } from "./overlay-boxes.ts";
import { buildPanelRows, buildPanelTitle, type PanelTitleModel } from "./panel-model.ts";
import { buildStatusModel } from "./status-model.ts";
import { buildTableRows } from "./table-rows.ts";
import { buildTabsModel, type TabsModel } from "./tabs-model.ts";

/** The area of a pane, and its rows from the top. */
export interface PaneModel extends Size {
  rows: readonly RowModel[];
}

/** The whole screen. Hidden parts are absent. */
export interface ScreenModel {
  screen: Size;
  header: BarModel;
  tabs: TabsModel;
  explorer?: PaneModel | undefined;
  table?: PaneModel | undefined;
  detail?: PaneModel | undefined;
  panel?: PaneModel | undefined;
  panelTitle: PanelTitleModel;
  /** The detail is to the right of the table, not below it. */
  isBeside: boolean;
  isDetailFocused: boolean;
  status: BarModel;
  /** The lowest first. */
  overlays: readonly OverlayBoxModel[];
}

/** The screen, or a message why it cannot be shown. */
export type ScreenOrMessage = ScreenModel | { screen: Size; message: string };

/** Builds the current screen; if it is too small, a message that says so. */
export function buildScreenModel(app: ConsoleData): ScreenOrMessage {
  const layout = app.getLayout();
  const screen = app.getScreenSize();
  if (layout === undefined) {
    const { width, height } = screen;
    return { screen, message: `too small: ${width}x${height}; 40x10 at least` };
  }
  return {
    ...{ screen, isBeside: layout.isBeside, isDetailFocused: app.state.focus === "detail" },
    header: buildHeaderModel(app, screen.width),
    tabs: buildTabsModel(app, computeMainWidth(layout)),
    explorer: buildPane(app, layout.explorer, buildExplorerRows),
    table: buildPane(app, layout.table, buildTableRows),
    detail: buildPane(app, layout.detail, buildDetailRows),
    panel: buildPane(app, layout.panel, buildPanelRows),
    panelTitle: buildPanelTitle(app, screen.width),
    status: buildStatusModel(app, screen.width),
    overlays: buildOverlayBoxes(app, screen),
  };
}

/** Builds a pane. If that fails, the error is its only row. */
function buildPane(
  app: ConsoleData,
  size: Size | undefined,
  buildRows: (app: ConsoleData, size: Size) => RowModel[],
): PaneModel | undefined {
  if (size === undefined) return undefined;
  const rows = buildSafely(
    app,
    () => buildRows(app, size),
    (row) => [row],
  );
  return { ...size, rows };
}
