import { Box, type DOMElement, Text } from "ink";
import { type Ref, useMemo } from "react";
import type { ConsoleApp } from "../console-app.ts";
import { useApp, useConsole } from "../context.tsx";
import type { TablePane } from "../data/table-pane.ts";
import { OverlayHost } from "../overlays/OverlayFrame.tsx";
import { focusOn } from "../parts/navigation.ts";
import { findSelectedLine, listDetailLines } from "../parts/pane-lines.ts";
import type { Pane } from "../state/console-state.ts";
import { clamp } from "../state/cursor.ts";
import type { Layout, Size } from "../state/layout.ts";
import { createRow, Row, type RowModel, ThemeContext } from "../theme/Row.tsx";
import { shadeTheme } from "../theme/theme.ts";
import { Header, StatusBar } from "./Bar.tsx";
import { Explorer } from "./Explorer.tsx";
import { BorderLine, Divider, PaneArea, PaneRows, TitleRow } from "./PaneArea.tsx";
import { Panel, PanelTitle } from "./Panel.tsx";
import { Rail } from "./Rail.tsx";
import { Table } from "./Table.tsx";
import { Tabs } from "./Tabs.tsx";

/** The whole screen: header, explorer, tabs, table, detail, panel, status, and the overlays above them. */
export function Screen({ ref }: { ref?: Ref<DOMElement> }) {
  const { size, layout, focus, hasOverlay } = useConsole(divideScreen);
  const { theme } = useApp();
  const { width, height } = size;
  const shaded = useMemo(() => shadeTheme(theme), [theme]);
  if (layout === undefined)
    return (
      <Box height={height}>
        <Text>{`too small: ${width}x${height}; 40x10 at least`}</Text>
      </Box>
    );
  const { explorer, panel } = layout;
  const hasMain = layout.table !== undefined || layout.detail !== undefined;
  return (
    <ThemeContext value={theme}>
      <Box ref={ref} flexDirection="column" width={width} height={height}>
        <ThemeContext value={hasOverlay ? shaded : theme}>
          <Header width={width} />
          <Box>
            {layout.rail && <Rail size={layout.rail} />}
            {explorer && <Explorer size={explorer} />}
            {explorer && hasMain && <Divider border="explorer" isFocused={focus === "explorer"} />}
            {hasMain && <Main layout={layout} focus={focus} />}
          </Box>
          {panel && <PanelTitle width={width} />}
          {panel && <Panel size={panel} />}
          <Box flexGrow={1} />
          <StatusBar width={width} />
        </ThemeContext>
        <OverlayHost screen={size} />
      </Box>
    </ThemeContext>
  );
}

function divideScreen(app: ConsoleApp) {
  const { overlays, state, theme } = app;
  const hasOverlay = overlays.top !== undefined;
  const [size, layout] = [app.getScreenSize(), app.getLayout()];
  return { size, layout, themeId: theme.id, focus: state.focus, hasOverlay };
}

/** The table or two of them, with their tabs, and the detail below or beside them. */
function Main({ layout, focus }: { layout: Layout; focus: Pane }) {
  const { table, beside, detail, isBeside, mainWidth } = layout;
  useConsole(locateTables);
  const { tablePane, otherPane } = useApp(); // another context has other ones
  const isFocused = focus === "detail";
  const isSplit = table && beside && otherPane;
  const title = (
    <Row cells={[{ text: "DETAIL", role: isFocused ? "titleFocused" : "title" }, { text: " " }]} />
  );
  return (
    <Box flexDirection="column">
      {!isSplit && <Tabs width={mainWidth} pane={tablePane} />}
      <Box flexDirection={isBeside ? "row" : "column"}>
        {isSplit && (
          <SplitTables sizes={[table, beside]} panes={[tablePane, otherPane]} isStacked={layout.isStacked} />
        )}
        {table && !isSplit && <Table size={table} pane={tablePane} />}
        {table && detail && isBeside && <Divider border="detailWidth" isFocused={isFocused} />}
        {table && detail && !isBeside && (
          <BorderLine border="detailHeight" width={detail.width} isFocused={isFocused}>
            {title}
          </BorderLine>
        )}
        {detail && (
          <Box flexDirection="column">
            {table && isBeside && (
              <TitleRow width={detail.width} isFocused={isFocused}>
                <Row cells={[{ text: " " }]} />
                {title}
              </TitleRow>
            )}
            <PaneArea id="detail" size={detail} onPress={(app) => focusOn(app, "detail")}>
              <PaneRows size={detail} build={buildDetailRows} />
            </PaneArea>
          </Box>
        )}
      </Box>
    </Box>
  );
}

/** The two places of tables are always the same ones: which of them is active can change. */
const locateTables = ({ tablePane, otherPane }: ConsoleApp) => ({
  isRight: tablePane.isRight,
  isSplit: otherPane !== undefined,
});

interface SplitTablesProps {
  /** Of the active table, and of the other one. */
  sizes: readonly Size[];
  panes: readonly TablePane[];
  isStacked: boolean;
}

/** Two tables, each below its tabs. */
function SplitTables({ sizes, panes, isStacked }: SplitTablesProps) {
  const [first, second] = panes.map((pane, at) => {
    const size = sizes[at];
    return (
      size && (
        <Box key={String(pane.isRight)} flexDirection="column">
          <Tabs width={size.width} pane={pane} />
          <Table size={size} pane={pane} />
        </Box>
      )
    );
  });
  const isSwapped = panes[0]?.isRight === true;
  return (
    <Box flexDirection={isStacked ? "column" : "row"}>
      {isSwapped ? second : first}
      {!isStacked && <Divider border="split" isFocused={false} />}
      {isSwapped ? first : second}
    </Box>
  );
}

function buildDetailRows(app: ConsoleApp, { width, height }: Size): RowModel[] {
  const lines = listDetailLines(app, width);
  const top = clamp(app.state.detail.top, 0, lines.length - height);
  const selected = findSelectedLine(app, lines);
  const rows = lines.slice(top, top + height).map(
    ({ spans }, at): RowModel => ({
      cells: [{ text: " " }, ...spans],
      selection: top + at === selected ? "focused" : undefined,
    }),
  );
  const left = lines.length - top - height;
  const more = createRow(` ${app.theme.signs.ellipsis} ${left + 1} more lines`, "quiet");
  return left > 0 ? rows.with(-1, more) : rows;
}
