import { Box } from "ink";
import { OverlayFrame } from "../overlays/OverlayFrame.tsx";
import type { OverlayBoxModel } from "../parts/overlay.ts";

/** An overlay in its frame, at its position. */
export function OverlayBox({ left, top, model }: OverlayBoxModel) {
  return (
    <Box position="absolute" left={left} top={top}>
      <OverlayFrame model={model} />
    </Box>
  );
}
