import type { App } from "../app/app.ts";
import { detailPane } from "../detail/pane.ts";
import { explorerPane } from "../explorer/pane.ts";
import { panelPane, panelRule } from "../panel/pane.ts";
import { tablePane } from "../table/pane.ts";
import { guarded } from "./guarded.ts";
import { headerLine } from "./header.ts";
import { type Layout, mainWidth, type Size } from "./layout.ts";
import { type OverlayFrame, overlayFrames } from "./overlays.ts";
import { statusLine } from "./status.ts";
import { tabsLine } from "./tabs.ts";

/** The whole screen as finished lines, for components that only paint. */
export interface Frame {
  screen: Size;
  header: string;
  tabs: string;
  explorer?: PaneFrame;
  table?: PaneFrame;
  detail?: PaneFrame;
  panel?: PaneFrame;
  isBeside: boolean;
  /** Lines between parts. */
  rules: { detail: string; panel: string; vertical: string };
  status: string;
  overlays: readonly OverlayFrame[];
}

export interface PaneFrame extends Size {
  lines: readonly string[];
}

/** The screen as it is now; where it is too small, a message that says so. */
export function frameOf(app: App): Frame | { screen: Size; message: string } {
  const layout = app.layout();
  const screen = app.screen();
  if (layout === undefined) {
    const { width, height } = screen;
    return { screen, message: `too small: ${width}x${height}; 40x10 at least` };
  }
  const pane = (size: Size | undefined, paint: (size: Size) => readonly string[]) =>
    size && { ...size, lines: guarded(app, () => paint(size)) };
  return {
    ...{ screen, isBeside: layout.isBeside },
    header: headerLine(app, screen.width),
    tabs: tabsLine(app, mainWidth(layout)),
    ...parts(app, layout, pane),
    rules: rulesOf(app, layout),
    status: statusLine(app, screen.width),
    overlays: overlayFrames(app, screen),
  };
}

type PaneOf = (size: Size | undefined, paint: (size: Size) => readonly string[]) => PaneFrame | undefined;

function parts(
  app: App,
  layout: Layout,
  pane: PaneOf,
): Pick<Frame, "explorer" | "table" | "detail" | "panel"> {
  const explorer = pane(layout.explorer, (size) => explorerPane(app, size));
  const table = pane(layout.table, (size) => tablePane(app, size));
  const detail = pane(layout.detail, (size) => detailPane(app, size));
  const panel = pane(layout.panel, (size) => panelPane(app, size));
  return {
    ...(explorer && { explorer }),
    ...(table && { table }),
    ...(detail && { detail }),
    ...(panel && { panel }),
  };
}

function rulesOf(app: App, layout: Layout): Frame["rules"] {
  const { theme, state } = app;
  const { horizontal, vertical } = theme.signs;
  const rule = (width: number, title: string, isFocused: boolean) => {
    const text = `${horizontal} ${title} `;
    const rest = horizontal.repeat(Math.max(0, width - text.length));
    return (
      theme.style("border", `${horizontal} `) +
      theme.style(isFocused ? "titleFocused" : "title", title) +
      theme.style("border", ` ${rest}`)
    );
  };
  return {
    detail: rule(layout.detail?.width ?? 0, "DETAIL", state.focus === "detail"),
    panel: panelRule(app, layout.panel?.width ?? 0),
    vertical: theme.style("border", vertical),
  };
}
