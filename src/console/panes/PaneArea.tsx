import { Box } from "ink";
import { Rows } from "../theme/Rows.tsx";
import type { PaneModel } from "./models/screen-model.ts";

/** A pane. What does not fit is not shown. */
export function PaneArea({ model: { width, height, rows } }: { model: PaneModel }) {
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden">
      <Box flexDirection="column" width={width} flexShrink={0}>
        <Rows rows={rows} width={width} />
      </Box>
    </Box>
  );
}
