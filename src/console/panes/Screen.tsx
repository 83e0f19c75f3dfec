import { Box } from "ink";
import type { ScreenFrame } from "./frame.ts";
import { Line } from "./line.tsx";
import { OverlayBox } from "./overlay-box.tsx";
import { PaneBox } from "./pane-box.tsx";

/** Renders the whole screen: header, explorer, tabs, table, detail, panel, status, and the overlays above them. */
export function Screen({ frame }: { frame: ScreenFrame }) {
  const { screen, explorer, panel, rules, overlays } = frame;
  const hasMain = frame.table !== undefined || frame.detail !== undefined;
  return (
    <Box flexDirection="column" width={screen.width} height={screen.height} overflow="hidden">
      <Line text={frame.header} />
      <Box>
        {explorer && <PaneBox pane={explorer} />}
        {explorer && hasMain && <Divider sign={rules.vertical} height={explorer.height + 1} />}
        {hasMain && <Main frame={frame} />}
      </Box>
      {panel && <Line text={rules.panel} />}
      {panel && <PaneBox pane={panel} />}
      <Box flexGrow={1} />
      <Line text={frame.status} />
      {overlays.map((overlay, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an overlay is identified by its position in the stack
        <OverlayBox key={at} overlay={overlay} />
      ))}
    </Box>
  );
}

/** Renders the tabs, and the table with the detail below or beside it. */
function Main({ frame }: { frame: ScreenFrame }) {
  const { table, detail, isBeside, rules, tabs } = frame;
  return (
    <Box flexDirection="column">
      <Line text={tabs} />
      <Box flexDirection={isBeside ? "row" : "column"}>
        {table && <PaneBox pane={table} />}
        {table && detail && isBeside && <Divider sign={rules.vertical} height={detail.height} />}
        {table && detail && !isBeside && <Line text={rules.detail} />}
        {detail && <PaneBox pane={detail} />}
      </Box>
    </Box>
  );
}

function Divider({ sign, height }: { sign: string; height: number }) {
  return (
    <Box flexDirection="column" width={1}>
      {Array.from({ length: height }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all lines are the same
        <Line key={at} text={sign} />
      ))}
    </Box>
  );
}
