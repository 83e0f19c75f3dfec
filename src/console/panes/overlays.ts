import { computeStyledWidth } from "../../base/text.ts";
import type { App } from "../app.ts";
import type { RenderedOverlay } from "../overlays/overlay.ts";
import type { Size } from "../state/layout.ts";
import { padToWidth, truncateToWidth } from "../theme/theme.ts";
import { renderSafely } from "./render-safely.ts";

/** An overlay with its frame, and its position. */
export interface OverlayFrame {
  left: number;
  top: number;
  lines: readonly string[];
}

/** Builds all overlays, the lowest first. */
export function buildOverlayFrames(app: App, screen: Size): OverlayFrame[] {
  return app.overlays.all.map((overlay) => {
    const available = { width: Math.max(20, screen.width - 6), height: Math.max(3, screen.height - 6) };
    let rendered: RenderedOverlay | undefined;
    const failed = renderSafely(app, () => {
      rendered = overlay.paint(available);
      return [];
    });
    return placeOverlay(app, screen, rendered ?? createFallbackOverlay(failed, available.width));
  });
}

function createFallbackOverlay(lines: readonly string[], width: number): RenderedOverlay {
  return { title: "a defect", lines, hints: [["Esc", "close"]], width, at: "middle" };
}

function placeOverlay(app: App, screen: Size, overlay: RenderedOverlay): OverlayFrame {
  const lines = renderOverlayFrame(app, overlay);
  const left = Math.max(0, Math.floor((screen.width - overlay.width - 4) / 2));
  const free = screen.height - lines.length;
  const top = { top: Math.min(1, free), middle: Math.floor(free / 2), bottom: free - 1 }[overlay.at];
  return { left, top: Math.max(0, top), lines };
}

/** Renders the frame, with the title at the top and the keys at the bottom. */
function renderOverlayFrame({ theme }: App, { title, lines, hints, width, tone }: RenderedOverlay): string[] {
  const { corners, horizontal, vertical } = theme.signs;
  const role = tone === "danger" ? "danger" : "border";
  const renderEdge = (left: string, text: string, right: string) => {
    const rest = horizontal.repeat(Math.max(0, width + 1 - computeStyledWidth(text)));
    return theme.style(role, left + horizontal) + text + theme.style(role, rest + right);
  };
  const head = theme.style(
    tone === "danger" ? "danger" : "titleFocused",
    ` ${truncateToWidth(title, width)} `,
  );
  const keys = hints
    .map(([key, what]) => `${theme.style("key", key)} ${theme.style("quiet", what)}`)
    .join("  ");
  const side = theme.style(role, vertical);
  return [
    renderEdge(corners[0], head, corners[1]),
    ...lines.map((line) => `${side} ${padToWidth(truncateToWidth(line, width), width)} ${side}`),
    renderEdge(corners[2], computeStyledWidth(keys) + 2 <= width ? ` ${keys} ` : "", corners[3]),
  ];
}
