import type { OverlayBoxModel } from "../../parts/overlay.ts";
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
} from "../../parts/parts.ts";
import { computeMainWidth, type Layout, type Size } from "../../state/layout.ts";
import type { BarModel } from "./bar-model.ts";
import { buildSafely } from "./build-safely.ts";
import { buildDetailModel, type DetailModel } from "./detail-model.ts";
import { buildExplorerModel, type ExplorerModel } from "./explorer-model.ts";
import { buildHeaderModel } from "./header-model.ts";
import { buildOverlayBoxes } from "./overlay-boxes.ts";
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
