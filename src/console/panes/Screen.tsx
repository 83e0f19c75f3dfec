import { Box } from "ink";
import { Bar } from "./Bar.tsx";
import { DetailPane } from "./DetailPane.tsx";
import { Explorer } from "./Explorer.tsx";
import { OverlayBox } from "./OverlayBox.tsx";
import { Panel, PanelTitle } from "./Panel.tsx";
import { Divider, TitleRule } from "./Rules.tsx";
import type { ScreenModel } from "./screen-model.ts";
import { Table } from "./Table.tsx";
import { Tabs } from "./Tabs.tsx";

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
