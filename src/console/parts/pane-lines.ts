import { buildDetailLines, type DetailLine } from "../../cli/commands/see/detail.ts";
import type { DetailTarget } from "../../cli/views/detail.ts";
import type { ConsoleApp } from "../console-app.ts";
import { NOT_READ_YET } from "../data/live-view.ts";

/** Sum of the margins at the left and the right of the text, columns. */
const MARGIN_COLUMNS = 2;

/** Lists all lines of the detail, each with its target. @param width  of the pane */
export function listDetailLines(app: ConsoleApp, width: number): DetailLine[] {
  return buildLines(app, width, true);
}

function buildLines(app: ConsoleApp, width: number, isDense: boolean): DetailLine[] {
  const detail = app.getDetail();
  const empty = app.liveView.hasRead ? "nothing is selected" : NOT_READ_YET;
  if (detail === undefined) return [{ spans: [{ text: empty, role: "quiet" }] }];
  return buildDetailLines(detail, app.theme.createLook(width - MARGIN_COLUMNS), isDense);
}

/** Returns the lines of the detail as text, a fact on each. @param width  of the lines */
export function formatDetailText(app: ConsoleApp, width: number): string[] {
  return buildLines(app, width + MARGIN_COLUMNS, false).map(({ spans }) =>
    spans.map(({ text }) => text).join(""),
  );
}

/** Returns the indexes of the lines that have a target. */
export function findTargetLines(lines: readonly DetailLine[]): number[] {
  return lines.flatMap(({ target }, at) =>
    target !== undefined && lines[at - 1]?.target !== target ? [at] : [],
  );
}

/** Returns the target selected in the detail, if the detail has the focus. */
export function findSelectedTarget(app: ConsoleApp): DetailTarget | undefined {
  const width = app.getLayout()?.detail?.width;
  if (app.state.focus !== "detail" || width === undefined) return undefined;
  const lines = listDetailLines(app, width);
  return lines[findSelectedLine(app, lines) ?? -1]?.target;
}

/** Returns the index of the selected line, if the detail has the focus. */
export function findSelectedLine(
  { state: { focus, detail } }: ConsoleApp,
  lines: readonly DetailLine[],
): number | undefined {
  return focus !== "detail" || detail.row === undefined ? undefined : findTargetLines(lines)[detail.row];
}
