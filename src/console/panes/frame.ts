import type { App } from "../app.ts";
import { computeMainWidth, type Layout, type Size } from "../state/layout.ts";
import { renderDetailPane } from "./detail-pane.ts";
import { renderExplorerPane } from "./explorer-pane.ts";
import { renderHeader } from "./header.ts";
import { buildOverlayFrames, type OverlayFrame } from "./overlays.ts";
import { renderPanelPane, renderPanelRule } from "./panel-pane.ts";
import { renderSafely } from "./render-safely.ts";
import { renderStatusLine } from "./status.ts";
import { renderTablePane } from "./table-pane.ts";
import { renderTabs } from "./tabs.ts";

/** The whole screen as finished lines, for components that only paint them. */
export interface ScreenFrame {
  screen: Size;
  header: string;
  tabs: string;
  explorer?: PaneFrame;
  table?: PaneFrame;
  detail?: PaneFrame;
  panel?: PaneFrame;
  isBeside: boolean;
  /** Lines between the parts. */
  rules: { detail: string; panel: string; vertical: string };
  status: string;
  overlays: readonly OverlayFrame[];
}

export interface PaneFrame extends Size {
  lines: readonly string[];
}

/** Builds the current screen; if it is too small, a message that says so. */
export function buildFrame(app: App): ScreenFrame | { screen: Size; message: string } {
  const layout = app.getLayout();
  const screen = app.getScreenSize();
  if (layout === undefined) {
    const { width, height } = screen;
    return { screen, message: `too small: ${width}x${height}; 40x10 at least` };
  }
  const buildPane = (size: Size | undefined, paint: (size: Size) => readonly string[]) =>
    size && { ...size, lines: renderSafely(app, () => paint(size)) };
  return {
    ...{ screen, isBeside: layout.isBeside },
    header: renderHeader(app, screen.width),
    tabs: renderTabs(app, computeMainWidth(layout)),
    ...buildPanes(app, layout, buildPane),
    rules: renderRules(app, layout),
    status: renderStatusLine(app, screen.width),
    overlays: buildOverlayFrames(app, screen),
  };
}

type PaneBuilder = (
  size: Size | undefined,
  paint: (size: Size) => readonly string[],
) => PaneFrame | undefined;

function buildPanes(
  app: App,
  layout: Layout,
  buildPane: PaneBuilder,
): Pick<ScreenFrame, "explorer" | "table" | "detail" | "panel"> {
  const explorer = buildPane(layout.explorer, (size) => renderExplorerPane(app, size));
  const table = buildPane(layout.table, (size) => renderTablePane(app, size));
  const detail = buildPane(layout.detail, (size) => renderDetailPane(app, size));
  const panel = buildPane(layout.panel, (size) => renderPanelPane(app, size));
  return {
    ...(explorer && { explorer }),
    ...(table && { table }),
    ...(detail && { detail }),
    ...(panel && { panel }),
  };
}

function renderRules(app: App, layout: Layout): ScreenFrame["rules"] {
  const { theme, state } = app;
  const { horizontal, vertical } = theme.signs;
  const renderRule = (width: number, title: string, isFocused: boolean) => {
    const text = `${horizontal} ${title} `;
    const rest = horizontal.repeat(Math.max(0, width - text.length));
    return (
      theme.style("border", `${horizontal} `) +
      theme.style(isFocused ? "titleFocused" : "title", title) +
      theme.style("border", ` ${rest}`)
    );
  };
  return {
    detail: renderRule(layout.detail?.width ?? 0, "DETAIL", state.focus === "detail"),
    panel: renderPanelRule(app, layout.panel?.width ?? 0),
    vertical: theme.style("border", vertical),
  };
}
