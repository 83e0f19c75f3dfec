import { clean } from "../../../base/text.ts";
import { buildDetailLines, wrapProseLines } from "../../../commands/see/detail.ts";
import type { DetailTarget } from "../../../model/detail/detail.ts";
import type { Remedy } from "../../../model/views/remedy.ts";
import type { Subject } from "../../../model/views/view.ts";
import { buildEditAction } from "../../actions/commands/configuration-actions.ts";
import { getCommandById, type RowActionResult } from "../../actions/commands/row-action.ts";
import { buildDetail } from "../../data/detail/build-detail.ts";
import type { ConsoleControls, ConsoleData } from "../../parts/parts.ts";
import { createRow, type RowModel } from "../../theme/cells.ts";
import { TextOverlay } from "../text-overlay.ts";
import { openDialog } from "./open-dialog.ts";

/** Opens the dialog of a command that helps, with its values filled in. */
export function openRemedy(app: ConsoleControls, remedy: Remedy): void {
  openDialog(app, [buildRemedyAction(app, remedy)]);
}

/** Opens what a detail row leads to: the dialog of its remedy if it has one, otherwise its details. */
export function openTarget(app: ConsoleControls, target: DetailTarget): void {
  const { remedy, subject, lines, title } = target;
  if (remedy !== undefined) return openRemedy(app, remedy);
  if (lines !== undefined)
    return openText(app, title, (width) =>
      wrapProseLines(lines, app.theme.createLook(width)).map((line) => createRow(line)),
    );
  if (subject !== undefined) openText(app, title, (width) => buildSubjectRows(app, subject, width));
}

function buildRemedyAction(app: ConsoleData, { command, args, flags }: Remedy): RowActionResult {
  const [name = ""] = args;
  if (command === "resource set") return buildEditAction({ kind: "resource", name }, app.liveView.snapshot);
  return { command: getCommandById(command), args, ...(flags && { flags }), target: args.join(" ") };
}

/** Builds the current details of a subject. Called for every frame, because its state can change. */
function buildSubjectRows(app: ConsoleData, subject: Subject, width: number): RowModel[] {
  const inputs = { snapshot: app.liveView.snapshot, wall: app.getWallTime(), liveness: new Map(), facts: [] };
  const lines = buildDetailLines(buildDetail(subject, inputs), app.theme.createLook(width));
  return lines.map(({ spans }) => ({ cells: spans }));
}

function openText(
  app: ConsoleControls,
  title: string,
  buildRows: (width: number) => readonly RowModel[],
): void {
  const overlay: TextOverlay = new TextOverlay({
    title: clean(title, 60),
    buildRows,
    close: () => app.overlays.close(overlay),
    onChange: () => app.notifyChange(),
  });
  app.overlays.open(overlay);
}
