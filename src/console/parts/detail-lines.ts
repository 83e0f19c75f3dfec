import { buildDetailLines, type DetailLine } from "../../commands/see/detail.ts";
import type { DetailTarget } from "../../model/detail/detail.ts";
import { NOT_READ_YET } from "../data/not-read-yet.ts";
import type { ConsoleData } from "./parts.ts";

/** Sum of the margins at the left and the right of the text, columns. */
const MARGIN = 2;

/** Lists all lines of the detail, each with its target. @param width  of the pane */
export function listDetailLines(app: ConsoleData, width: number): DetailLine[] {
  const detail = app.getDetail();
  const empty = app.liveView.hasRead ? "nothing is selected" : NOT_READ_YET;
  if (detail === undefined) return [{ spans: [{ text: empty, role: "quiet" }] }];
  return buildDetailLines(detail, app.theme.createLook(width - MARGIN));
}

/** Returns the lines of the detail as text. @param width  of the lines */
export function formatDetailText(app: ConsoleData, width: number): string[] {
  return listDetailLines(app, width + MARGIN).map(({ spans }) => spans.map(({ text }) => text).join(""));
}

/** Returns the indexes of the lines that have a target. */
export function findTargetLines(lines: readonly DetailLine[]): number[] {
  return lines.flatMap(({ target }, at) =>
    target !== undefined && lines[at - 1]?.target !== target ? [at] : [],
  );
}

/** Returns the target selected in the detail, if the detail has the keyboard. */
export function findSelectedTarget(app: ConsoleData): DetailTarget | undefined {
  const width = app.getLayout()?.detail?.width;
  if (app.state.focus !== "detail" || width === undefined) return undefined;
  const lines = listDetailLines(app, width);
  return lines[findSelectedLine(app, lines) ?? -1]?.target;
}

/** Returns the index of the selected line, if the detail has the keyboard. */
export function findSelectedLine(
  { state: { focus, detail } }: ConsoleData,
  lines: readonly DetailLine[],
): number | undefined {
  return focus !== "detail" || detail.row === undefined ? undefined : findTargetLines(lines)[detail.row];
}
