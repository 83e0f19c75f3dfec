import { Box } from "ink";
import type { ReactNode } from "react";
import type { Size } from "../state/layout.ts";

/** The area of a pane. What does not fit is not shown. */
export function PaneBox({ size: { width, height }, children }: { size: Size; children: ReactNode }) {
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden">
      <Box flexDirection="column" width={width} flexShrink={0}>
        {children}
      </Box>
    </Box>
  );
}
