import { clean } from "../../../base/text.ts";
import { buildDetailLines } from "../../../commands/see/detail.ts";
import type { DetailTarget } from "../../../model/detail/detail.ts";
import type { Remedy } from "../../../model/views/remedy.ts";
import { buildEditAction } from "../../actions/commands/configuration-actions.ts";
import { getCommandById, type RowActionResult } from "../../actions/commands/row-action.ts";
import { buildDetail } from "../../data/detail/build-detail.ts";
import type { ConsoleControls, ConsoleData } from "../../parts/parts.ts";
import type { RowModel } from "../../theme/cells.ts";
import { buildProseRows, openText } from "../text-overlay.ts";
import { openDialog } from "./open-dialog.ts";

/** Opens the dialog of a command that helps, with its values filled in. */
export function openRemedy(app: ConsoleControls, remedy: Remedy): void {
  openDialog(app, [buildRemedyAction(app, remedy)]);
}

/** Opens what a detail row leads to: the dialog of its remedy if it has one, otherwise its details. */
export function openTarget(app: ConsoleControls, target: DetailTarget): void {
  const { remedy, title } = target;
  if (remedy !== undefined) return openRemedy(app, remedy);
  openText(app, { title: clean(title, 60), buildRows: (width) => buildTargetRows(app, target, width) });
}

function buildRemedyAction(app: ConsoleData, { command, args, flags }: Remedy): RowActionResult {
  const [name = ""] = args;
  if (command === "resource set") return buildEditAction({ kind: "resource", name }, app.liveView.snapshot);
  return { command: getCommandById(command), args, ...(flags && { flags }), target: args.join(" ") };
}

/** Builds the text or the current details of a target. Called for every frame, because its state can change. */
function buildTargetRows(app: ConsoleData, { lines, subject }: DetailTarget, width: number): RowModel[] {
  if (lines !== undefined) return buildProseRows(app, lines, width);
  if (subject === undefined) return [];
  const inputs = { snapshot: app.liveView.snapshot, wall: app.getWallTime(), sessions: new Map(), facts: [] };
  const details = buildDetailLines(buildDetail(subject, inputs), app.theme.createLook(width));
  return details.map(({ spans }) => ({ cells: spans }));
}
