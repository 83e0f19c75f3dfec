import { listContentRows } from "../../overlays/content-rows.ts";
import type { OverlayBoxModel, OverlayModel } from "../../parts/overlay.ts";
import type { LogAccess, OverlayAccess, ThemeAccess } from "../../parts/parts.ts";
import type { Size } from "../../state/layout.ts";
import type { RowModel } from "../../theme/cells.ts";
import { buildSafely } from "./build-safely.ts";

/** Builds all overlays at their positions, the lowest first. */
export function buildOverlayBoxes(
  app: LogAccess & OverlayAccess & ThemeAccess,
  screen: Size,
): readonly OverlayBoxModel[] {
  const available = { width: Math.max(20, screen.width - 6), height: Math.max(3, screen.height - 6) };
  app.overlays.shown = app.overlays.all.map((overlay) => {
    const model = buildSafely(
      app,
      () => overlay.buildModel(available),
      (row) => createFallback(row, available.width),
    );
    return placeOverlay(screen, model);
  });
  return app.overlays.shown;
}

function createFallback(row: RowModel, width: number): OverlayModel {
  const content = { kind: "text", rows: [row] } as const;
  return { title: "a defect", content, hints: [["Esc", "close"]], width, at: "middle" };
}

function placeOverlay(screen: Size, model: OverlayModel): OverlayBoxModel {
  const free = screen.height - listContentRows(model.content).length - 2;
  if (typeof model.at === "object") return placeNextTo(screen, model, model.at, free);
  const left = Math.max(0, Math.floor((screen.width - model.width - 4) / 2));
  const top = { top: Math.min(1, free), middle: Math.floor(free / 2), bottom: free - 1 }[model.at];
  return { left, top: Math.max(0, top), model };
}

/** Places an overlay below a position, or above it if there is no room below. */
function placeNextTo(
  screen: Size,
  model: OverlayModel,
  { column, row }: { column: number; row: number },
  free: number,
): OverlayBoxModel {
  const left = Math.max(0, Math.min(column, screen.width - model.width - 4));
  const below = row + 1;
  const above = row - (screen.height - free);
  const top = below <= free - 1 ? below : above >= 1 ? above : free - 1;
  return { left, top: Math.max(0, top), model };
}
