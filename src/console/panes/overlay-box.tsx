import { Box } from "ink";
import { Line } from "./line.tsx";
import type { OverlayFrame } from "./overlays.ts";

/** Renders an overlay at its position. */
export function OverlayBox({ overlay: { left, top, lines } }: { overlay: OverlayFrame }) {
  return (
    <Box position="absolute" left={left} top={top} flexDirection="column">
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is identified by its position
        <Line key={at} text={line} />
      ))}
    </Box>
  );
}
