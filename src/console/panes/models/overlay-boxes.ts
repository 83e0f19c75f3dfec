import type { OverlayBoxModel, OverlayModel } from "../../parts/overlay.ts";
import type { ConsoleData } from "../../parts/parts.ts";
import type { Size } from "../../state/layout.ts";
import type { RowModel } from "../../theme/cells.ts";
import { buildSafely } from "./build-safely.ts";

/** Builds all overlays at their positions, the lowest first. */
export function buildOverlayBoxes(app: ConsoleData, screen: Size): OverlayBoxModel[] {
  const available = { width: Math.max(20, screen.width - 6), height: Math.max(3, screen.height - 6) };
  return app.overlays.all.map((overlay) => {
    const model = buildSafely(
      app,
      () => overlay.buildModel(available),
      (row) => createFallback(row, available.width),
    );
    return placeOverlay(screen, model);
  });
}

function createFallback(row: RowModel, width: number): OverlayModel {
  return { title: "a defect", rows: [row], hints: [["Esc", "close"]], width, at: "middle" };
}

function placeOverlay(screen: Size, model: OverlayModel): OverlayBoxModel {
  const left = Math.max(0, Math.floor((screen.width - model.width - 4) / 2));
  const free = screen.height - model.rows.length - 2;
  const top = { top: Math.min(1, free), middle: Math.floor(free / 2), bottom: free - 1 }[model.at];
  return { left, top: Math.max(0, top), model };
}
