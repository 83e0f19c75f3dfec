import { Box } from "ink";
import { listContentRows } from "../overlays/content-rows.ts";
import { Dialog } from "../overlays/Dialog.tsx";
import { FittedRows } from "../overlays/FittedRows.tsx";
import { OverlayFrame } from "../overlays/OverlayFrame.tsx";
import { Palette } from "../overlays/Palette.tsx";
import type { OverlayBoxModel, OverlayContent } from "../parts/overlay.ts";

/** An overlay in its frame, at its position. */
export function OverlayBox({ left, top, model }: OverlayBoxModel) {
  const { content, width } = model;
  return (
    <Box position="absolute" left={left} top={top}>
      <OverlayFrame model={model} height={listContentRows(content).length}>
        <Content content={content} width={width} />
      </OverlayFrame>
    </Box>
  );
}

function Content({ content, width }: { content: OverlayContent; width: number }) {
  switch (content.kind) {
    case "text":
      return <FittedRows rows={content.rows} width={width} />;
    case "filter":
      return <FittedRows rows={listContentRows(content)} width={width} />;
    case "palette":
      return <Palette model={content} width={width} />;
    case "dialog":
      return <Dialog model={content} width={width} />;
  }
}
