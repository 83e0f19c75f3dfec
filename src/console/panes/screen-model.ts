import { listContentRows } from "../overlays/content-rows.ts";
import type { OverlayBoxModel, OverlayModel } from "../parts/overlay.ts";
import type {
  ClockAccess,
  DataAccess,
  DetailAccess,
  HintAccess,
  JobAccess,
  LayoutAccess,
  LineAccess,
  LogAccess,
  OverlayAccess,
  SettingsAccess,
  StateAccess,
  TableAccess,
  ThemeAccess,
  TravelAccess,
  TreeAccess,
} from "../parts/parts.ts";
import { computeMainWidth, type Layout, type Size } from "../state/layout.ts";
import type { RowModel } from "../theme/cells.ts";
import type { BarModel } from "./bar-model.ts";
import { buildSafely } from "./build-safely.ts";
import { buildDetailModel, type DetailModel } from "./detail-model.ts";
import { buildExplorerModel, type ExplorerModel } from "./explorer-model.ts";
import { buildHeaderModel } from "./header-model.ts";
import { buildPanelModel, buildPanelTitle, type PanelModel, type PanelTitleModel } from "./panel-model.ts";
import { buildStatusModel } from "./status-model.ts";
import { buildTableModel, type TableModel } from "./table-model.ts";
import { buildTabsModel, type TabsModel } from "./tabs-model.ts";

/** The whole screen. Hidden parts are absent. */
export interface ScreenModel {
  screen: Size;
  header: BarModel;
  tabs: TabsModel;
  explorer?: ExplorerModel | undefined;
  table?: TableModel | undefined;
  detail?: DetailModel | undefined;
  panel?: PanelModel | undefined;
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

export type ScreenInputs = ClockAccess &
  DataAccess &
  DetailAccess &
  HintAccess &
  JobAccess &
  LayoutAccess &
  LineAccess &
  LogAccess &
  OverlayAccess &
  SettingsAccess &
  StateAccess &
  TableAccess &
  ThemeAccess &
  TravelAccess &
  TreeAccess;

/** Builds the current screen; if it is too small, a message that says so. */
export function buildScreenModel(app: ScreenInputs): ScreenOrMessage {
  const layout = app.getLayout();
  const screen = app.getScreenSize();
  if (layout === undefined) {
    const { width, height } = screen;
    return { screen, message: `too small: ${width}x${height}; 40x10 at least` };
  }
  return {
    screen,
    isBeside: layout.isBeside,
    isDetailFocused: app.state.focus === "detail",
    header: buildHeaderModel(app, screen.width),
    tabs: buildTabsModel(app, computeMainWidth(layout)),
    ...buildPanes(app, layout),
    panelTitle: buildPanelTitle(app, screen.width),
    status: buildStatusModel(app, screen.width),
    overlays: buildOverlayBoxes(app, screen),
  };
}

function buildPanes(
  app: ScreenInputs,
  { explorer, table, detail, panel }: Layout,
): Pick<ScreenModel, "explorer" | "table" | "detail" | "panel"> {
  return {
    explorer:
      explorer &&
      buildSafely(
        app,
        () => buildExplorerModel(app, explorer),
        ({ cells }) => ({
          ...explorer,
          isFocused: false,
          nodes: [{ key: "", cells, selection: undefined }],
        }),
      ),
    table:
      table &&
      buildSafely(
        app,
        () => buildTableModel(app, table),
        (row) => ({ ...table, notes: [row], head: undefined, rows: [] }),
      ),
    detail:
      detail &&
      buildSafely(
        app,
        () => buildDetailModel(app, detail),
        (row) => ({ ...detail, rows: [row], more: 0 }),
      ),
    panel:
      panel &&
      buildSafely(
        app,
        () => buildPanelModel(app, panel),
        (row) => ({ ...panel, rows: [row] }),
      ),
  };
}

/** Builds all overlays at their positions, the lowest first. */
function buildOverlayBoxes(
  app: LogAccess & OverlayAccess & ThemeAccess,
  screen: Size,
): readonly OverlayBoxModel[] {
  const available = { width: Math.max(20, screen.width - 6), height: Math.max(3, screen.height - 6) };
  app.overlays.shown = app.overlays.all.map((overlay) => {
    const model = buildSafely(
      app,
      () => overlay.buildModel(available),
      (row) => createFallback(row, available.width),
    );
    return placeOverlay(screen, model);
  });
  return app.overlays.shown;
}

function createFallback(row: RowModel, width: number): OverlayModel {
  const content = { kind: "text", rows: [row] } as const;
  return { title: "a defect", content, hints: [["Esc", "close"]], width, at: "middle" };
}

function placeOverlay(screen: Size, model: OverlayModel): OverlayBoxModel {
  const free = screen.height - listContentRows(model.content).length - 2;
  if (typeof model.at === "object") return placeNextTo(screen, model, model.at, free);
  const left = Math.max(0, Math.floor((screen.width - model.width - 4) / 2));
  const top = { top: Math.min(1, free), middle: Math.floor(free / 2), bottom: free - 1 }[model.at];
  return { left, top: Math.max(0, top), model };
}

/** Places an overlay below a position, or above it if there is no room below. */
function placeNextTo(
  screen: Size,
  model: OverlayModel,
  { column, row }: { column: number; row: number },
  free: number,
): OverlayBoxModel {
  const left = Math.max(0, Math.min(column, screen.width - model.width - 4));
  const below = row + 1;
  const above = row - (screen.height - free);
  const top = below <= free - 1 ? below : above >= 1 ? above : free - 1;
  return { left, top: Math.max(0, top), model };
}
