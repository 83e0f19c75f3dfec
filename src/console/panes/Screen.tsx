import { Box, Text } from "ink";
import { clean } from "../../base/text.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { listContentRows, type OverlayBoxModel, type OverlayModel } from "../parts/overlay.ts";
import { computeMainWidth, type Layout, type Size } from "../state/layout.ts";
import { createRow, type RowModel } from "../theme/cells.ts";
import { Row, Span, useTheme } from "../theme/Row.tsx";
import { Bar, type BarModel, buildHeaderModel, buildStatusModel } from "./Bar.tsx";
import { OverlayBox } from "./boxes.tsx";
import { buildDetailModel, type DetailModel, DetailPane } from "./DetailPane.tsx";
import { buildExplorerModel, Explorer, type ExplorerModel } from "./Explorer.tsx";
import {
  buildPanelModel,
  buildPanelTitle,
  Panel,
  type PanelModel,
  PanelTitle,
  type PanelTitleModel,
} from "./Panel.tsx";
import { buildTableModel, Table, type TableModel } from "./Table.tsx";
import { buildTabsModel, Tabs, type TabsModel } from "./Tabs.tsx";

/** The whole screen: header, explorer, tabs, table, detail, panel, status, and the overlays above them. */
export function Screen({ model }: { model: ScreenModel }) {
  const { screen, header, explorer, panel, panelTitle, status, overlays } = model;
  const hasMain = model.table !== undefined || model.detail !== undefined;
  return (
    <Box flexDirection="column" width={screen.width} height={screen.height} overflow="hidden">
      <Bar bar={header} />
      <Box>
        {explorer && <Explorer model={explorer} />}
        {explorer && hasMain && <Divider height={explorer.height + 1} isFocused={explorer.isFocused} />}
        {hasMain && <Main model={model} />}
      </Box>
      {panel && <PanelTitle model={panelTitle} />}
      {panel && <Panel model={panel} />}
      <Box flexGrow={1} />
      <Bar bar={status} />
      {overlays.map((overlay, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an overlay is identified by its position in the stack
        <OverlayBox key={at} {...overlay} />
      ))}
    </Box>
  );
}

/** The tabs, and the table with the detail below or beside it. */
function Main({ model: { table, detail, tabs, isBeside, isDetailFocused } }: { model: ScreenModel }) {
  return (
    <Box flexDirection="column">
      <Tabs model={tabs} />
      <Box flexDirection={isBeside ? "row" : "column"}>
        {table && <Table model={table} />}
        {table && detail && isBeside && <Divider height={detail.height} isFocused={isDetailFocused} />}
        {table && detail && !isBeside && (
          <TitleRule title="DETAIL" isFocused={isDetailFocused} width={detail.width} />
        )}
        {detail && <DetailPane model={detail} />}
      </Box>
    </Box>
  );
}

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

/** Builds the current screen; if it is too small, a message that says so. */
export function buildScreenModel(app: ConsoleParts): ScreenOrMessage {
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
  app: ConsoleParts,
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
function buildOverlayBoxes(app: ConsoleParts, screen: Size): readonly OverlayBoxModel[] {
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

interface TitleRuleProps {
  title: string;
  isFocused: boolean;
  width: number;
}

/** A line with a title, between two panes that are one above the other. */
export function TitleRule({ title, isFocused, width }: TitleRuleProps) {
  const { horizontal } = useTheme().signs;
  const rest = horizontal.repeat(Math.max(0, width - title.length - 3));
  const role = isFocused ? "accent" : "border";
  return (
    <Row
      cells={[
        { text: `${horizontal} `, role },
        { text: title, role: isFocused ? "titleFocused" : "title" },
        { text: ` ${rest}`, role },
      ]}
      width={width}
    />
  );
}

/** A line between two panes that are side by side. */
export function Divider({ height, isFocused = false }: { height: number; isFocused?: boolean }) {
  const { vertical } = useTheme().signs;
  return (
    <Box width={1} flexShrink={0}>
      <Text wrap="truncate">
        <Span
          cell={{ text: Array(height).fill(vertical).join("\n"), role: isFocused ? "accent" : "border" }}
        />
      </Text>
    </Box>
  );
}

/**
 * Builds one part of the screen. If that fails, the error is shown in its place, and the other parts stay usable.
 * @param replace  builds the part from a row with the error
 */
export function buildSafely<T>(
  { log, theme }: Pick<ConsoleParts, "log" | "theme">,
  build: () => T,
  replace: (row: RowModel) => T,
): T {
  try {
    return build();
  } catch (error) {
    log.add(`a part of the screen failed: ${String((error as Error)?.stack ?? error)}`);
    const text = `${theme.signs.marks.problem}this part failed, a defect of signalbox: ${String(error)}`;
    return replace(createRow(clean(text), "problem"));
  }
}
