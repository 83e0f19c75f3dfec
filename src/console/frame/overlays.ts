import type { App } from "../app/app.ts";
import type { OverlayPicture } from "../overlay/overlay.ts";
import { cutTo, padTo, widthOf } from "../theme/theme.ts";
import { guarded } from "./guarded.ts";
import type { Size } from "./layout.ts";

/** An overlay with its frame, and where it stands. */
export interface OverlayFrame {
  left: number;
  top: number;
  lines: readonly string[];
}

/** Every overlay, the lowest first. */
export function overlayFrames(app: App, screen: Size): OverlayFrame[] {
  return app.overlays.all.map((overlay) => {
    const room = { width: Math.max(20, screen.width - 6), height: Math.max(3, screen.height - 6) };
    let picture: OverlayPicture | undefined;
    const failed = guarded(app, () => {
      picture = overlay.paint(room);
      return [];
    });
    return placed(app, screen, picture ?? fallback(failed, room.width));
  });
}

function fallback(lines: readonly string[], width: number): OverlayPicture {
  return { title: "a defect", lines, hints: [["Esc", "close"]], width, at: "middle" };
}

function placed(app: App, screen: Size, picture: OverlayPicture): OverlayFrame {
  const lines = framed(app, picture);
  const left = Math.max(0, Math.floor((screen.width - picture.width - 4) / 2));
  const free = screen.height - lines.length;
  const top = { top: Math.min(1, free), middle: Math.floor(free / 2), bottom: free - 1 }[picture.at];
  return { left, top: Math.max(0, top), lines };
}

/** A frame with the title above and the keys below. */
function framed({ theme }: App, { title, lines, hints, width, tone }: OverlayPicture): string[] {
  const { corners, horizontal, vertical } = theme.signs;
  const role = tone === "danger" ? "danger" : "border";
  const edge = (left: string, text: string, right: string) => {
    const rest = horizontal.repeat(Math.max(0, width + 1 - widthOf(text)));
    return theme.style(role, left + horizontal) + text + theme.style(role, rest + right);
  };
  const head = theme.style(tone === "danger" ? "danger" : "titleFocused", ` ${cutTo(title, width)} `);
  const keys = hints
    .map(([key, what]) => `${theme.style("key", key)} ${theme.style("quiet", what)}`)
    .join("  ");
  const side = theme.style(role, vertical);
  return [
    edge(corners[0], head, corners[1]),
    ...lines.map((line) => `${side} ${padTo(cutTo(line, width), width)} ${side}`),
    edge(corners[2], widthOf(keys) + 2 <= width ? ` ${keys} ` : "", corners[3]),
  ];
}
