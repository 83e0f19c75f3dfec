import { buildDetailLines, type DetailLine } from "../../commands/see/detail.ts";
import type { DetailTarget } from "../../model/detail/detail.ts";
import { NOT_READ_YET } from "../data/not-read-yet.ts";
import type { DataAccess, DetailAccess, LayoutAccess, StateAccess, ThemeAccess } from "./parts.ts";

/** Sum of the margins at the left and the right of the text, columns. */
const MARGIN = 2;

type DetailInputs = DataAccess & DetailAccess & ThemeAccess;

/** Lists all lines of the detail, each with its target. @param width  of the pane */
export function listDetailLines(app: DetailInputs, width: number): DetailLine[] {
  return buildLines(app, width, true);
}

function buildLines(app: DetailInputs, width: number, isDense: boolean): DetailLine[] {
  const detail = app.getDetail();
  const empty = app.liveView.hasRead ? "nothing is selected" : NOT_READ_YET;
  if (detail === undefined) return [{ spans: [{ text: empty, role: "quiet" }] }];
  return buildDetailLines(detail, app.theme.createLook(width - MARGIN), isDense);
}

/** Returns the lines of the detail as text, a fact on each. @param width  of the lines */
export function formatDetailText(app: DetailInputs, width: number): string[] {
  return buildLines(app, width + MARGIN, false).map(({ spans }) => spans.map(({ text }) => text).join(""));
}

/** Returns the indexes of the lines that have a target. */
export function findTargetLines(lines: readonly DetailLine[]): number[] {
  return lines.flatMap(({ target }, at) =>
    target !== undefined && lines[at - 1]?.target !== target ? [at] : [],
  );
}

/** Returns the target selected in the detail, if the detail has the keyboard. */
export function findSelectedTarget(app: DetailInputs & LayoutAccess & StateAccess): DetailTarget | undefined {
  const width = app.getLayout()?.detail?.width;
  if (app.state.focus !== "detail" || width === undefined) return undefined;
  const lines = listDetailLines(app, width);
  return lines[findSelectedLine(app, lines) ?? -1]?.target;
}

/** Returns the index of the selected line, if the detail has the keyboard. */
export function findSelectedLine(
  { state: { focus, detail } }: StateAccess,
  lines: readonly DetailLine[],
): number | undefined {
  return focus !== "detail" || detail.row === undefined ? undefined : findTargetLines(lines)[detail.row];
}
