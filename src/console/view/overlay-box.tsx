import { Box } from "ink";
import type { OverlayFrame } from "../frame/overlays.ts";
import { Line } from "./line.tsx";

/** What stands over the rest of the screen. */
export function OverlayBox({ overlay: { left, top, lines } }: { overlay: OverlayFrame }) {
  return (
    <Box position="absolute" left={left} top={top} flexDirection="column">
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen
        <Line key={at} text={line} />
      ))}
    </Box>
  );
}
