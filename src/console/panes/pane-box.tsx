import { Box } from "ink";
import type { PaneFrame } from "./frame.ts";
import { Line } from "./line.tsx";

/** Renders a pane: as many of its lines as fit. */
export function PaneBox({ pane: { width, height, lines } }: { pane: PaneFrame }) {
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden">
      {lines.slice(0, height).map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is identified by its position
        <Line key={at} text={line} />
      ))}
    </Box>
  );
}
