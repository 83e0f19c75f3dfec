import { Box, type DOMElement, Text } from "ink";
import { type Ref, useMemo } from "react";
import type { ConsoleApp } from "../console-app.ts";
import { useConsole } from "../context.tsx";
import { OverlayHost } from "../overlays/OverlayFrame.tsx";
import { focusOn } from "../parts/navigation.ts";
import { findSelectedLine, listDetailLines } from "../parts/pane-lines.ts";
import { clamp } from "../state/cursor.ts";
import { computeMainWidth, type Layout, type Size } from "../state/layout.ts";
import { createRow, Row, type RowModel, ThemeContext } from "../theme/Row.tsx";
import { shadeTheme } from "../theme/theme.ts";
import { Header, StatusBar } from "./Bar.tsx";
import { Explorer } from "./Explorer.tsx";
import { BorderLine, Divider, PaneArea, PaneRows, TitleRow } from "./PaneArea.tsx";
import { Panel, PanelTitle } from "./Panel.tsx";
import { Table } from "./Table.tsx";
import { Tabs } from "./Tabs.tsx";

/** The whole screen: header, explorer, tabs, table, detail, panel, status, and the overlays above them. */
export function Screen({ ref }: { ref?: Ref<DOMElement> }) {
  const { size, layout, theme, focus, hasOverlay } = useConsole(divideScreen);
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
            {explorer && <Explorer size={explorer} />}
            {explorer && hasMain && <Divider border="explorer" isFocused={focus === "explorer"} />}
            {hasMain && <Main layout={layout} isDetailFocused={focus === "detail"} />}
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
  return { size: app.getScreenSize(), layout: app.getLayout(), theme, focus: state.focus, hasOverlay };
}

/** The tabs, and the table with the detail below or beside it. */
function Main({ layout, isDetailFocused: isFocused }: { layout: Layout; isDetailFocused: boolean }) {
  const { table, detail, isBeside } = layout;
  const title = (
    <Row cells={[{ text: "DETAIL", role: isFocused ? "titleFocused" : "title" }, { text: " " }]} />
  );
  return (
    <Box flexDirection="column">
      <Tabs width={computeMainWidth(layout)} />
      <Box flexDirection={isBeside ? "row" : "column"}>
        {table && <Table size={table} />}
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
