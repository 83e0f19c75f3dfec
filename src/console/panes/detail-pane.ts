import { type DetailLine, renderDetailLines } from "../../commands/see/detail.ts";
import type { DetailTarget } from "../../model/detail/detail.ts";
import type { App } from "../app.ts";
import type { Size } from "../state/layout.ts";
import { padToWidth } from "../theme/theme.ts";
import { NOT_READ_YET } from "./empty-pages.ts";

/** Sum of the margins at the left and the right of the text, columns. */
const MARGIN = 2;

/** Renders the detail of the selected subject at its scroll position. */
export function renderDetailPane(app: App, { width, height }: Size): string[] {
  const lines = buildDetailPaneLines(app, width);
  const top = Math.max(0, Math.min(app.state.detail.top, lines.length - height));
  const selected = findSelectedLine(app, lines);
  const isFocused = app.state.focus === "detail";
  const shown = lines
    .slice(top, top + height)
    .map(({ text }, at) =>
      top + at === selected
        ? app.theme.styleRow(padToWidth(` ${text}`, width), { isSelected: true, isFocused, width })
        : ` ${text}`,
    );
  const left = lines.length - top - height;
  if (left <= 0) return shown;
  const more = app.theme.style("quiet", ` ${app.theme.signs.ellipsis} ${left + 1} more lines`);
  return [...shown.slice(0, -1), more];
}

/** Builds all lines of the detail, each with its target. @param width  of the pane */
export function buildDetailPaneLines(app: App, width: number): DetailLine[] {
  const detail = app.getDetail();
  const empty = app.liveView.hasRead ? "nothing is selected" : NOT_READ_YET;
  if (detail === undefined) return [{ text: app.theme.style("quiet", empty) }];
  return renderDetailLines(detail, app.theme.createLook(width - MARGIN));
}

/** Returns the lines of the detail as text. @param width  of the lines */
export function formatDetailText(app: App, width: number): string[] {
  return buildDetailPaneLines(app, width + MARGIN).map(({ text }) => text);
}

/** Returns the indexes of the lines that have a target. */
export function findTargetLines(lines: readonly DetailLine[]): number[] {
  return lines.flatMap(({ target }, at) =>
    target !== undefined && lines[at - 1]?.target !== target ? [at] : [],
  );
}

/** Returns the target selected in the detail, if the detail has the keyboard. */
export function findSelectedTarget(app: App): DetailTarget | undefined {
  const { focus } = app.state;
  const width = app.getLayout()?.detail?.width;
  if (focus !== "detail" || width === undefined) return undefined;
  const lines = buildDetailPaneLines(app, width);
  return lines[findSelectedLine(app, lines) ?? -1]?.target;
}

function findSelectedLine(app: App, lines: readonly DetailLine[]): number | undefined {
  const { focus, detail } = app.state;
  return focus !== "detail" || detail.row === undefined ? undefined : findTargetLines(lines)[detail.row];
}
