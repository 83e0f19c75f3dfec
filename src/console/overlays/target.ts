import { cleanToWidth } from "../../base/display-width.ts";
import { buildDetailLines, wrapProseLines } from "../../commands/see/detail.ts";
import type { DetailTarget } from "../../model/detail/detail.ts";
import type { Remedy } from "../../model/views/remedy.ts";
import type { Subject } from "../../model/views/view.ts";
import { buildDetail } from "../data/build-detail.ts";
import { buildEditAction } from "../parts/configuration-actions.ts";
import type {
  ChangeNotifier,
  ClockAccess,
  DataAccess,
  DialogPorts,
  OverlayAccess,
  ThemeAccess,
} from "../parts/parts.ts";
import { getCommandById, type RowActionResult } from "../parts/row-action.ts";
import { createRow, type RowModel } from "../theme/cells.ts";
import { openDialog } from "./open-dialog.ts";
import { TextOverlay } from "./text-overlay.ts";

type TargetParts = ClockAccess & DataAccess & ThemeAccess;

/** Opens the dialog of a command that helps, with its values filled in. */
export function openRemedy(app: DialogPorts, remedy: Remedy): void {
  openDialog(app, [buildRemedyAction(app, remedy)]);
}

/** Opens what a detail row leads to: the dialog of its remedy if it has one, otherwise its details. */
export function openTarget(app: ClockAccess & DialogPorts, target: DetailTarget): void {
  const { remedy, subject, lines, title } = target;
  if (remedy !== undefined) return openRemedy(app, remedy);
  if (lines !== undefined)
    return openText(app, title, (width) =>
      wrapProseLines(lines, app.theme.createLook(width)).map((line) => createRow(line)),
    );
  if (subject !== undefined) openText(app, title, (width) => buildSubjectRows(app, subject, width));
}

function buildRemedyAction(app: DataAccess, { command, args, flags }: Remedy): RowActionResult {
  const [name = ""] = args;
  if (command === "resource set") return buildEditAction({ kind: "resource", name }, app.liveView.snapshot);
  return { command: getCommandById(command), args, ...(flags && { flags }), target: args.join(" ") };
}

/** Builds the current details of a subject. Called for every frame, because its state can change. */
function buildSubjectRows(app: TargetParts, subject: Subject, width: number): RowModel[] {
  const inputs = { snapshot: app.liveView.snapshot, wall: app.getWallTime(), sessions: new Map(), facts: [] };
  const lines = buildDetailLines(buildDetail(subject, inputs), app.theme.createLook(width));
  return lines.map(({ spans }) => ({ cells: spans }));
}

function openText(
  app: ChangeNotifier & OverlayAccess,
  title: string,
  buildRows: (width: number) => readonly RowModel[],
): void {
  const overlay: TextOverlay = new TextOverlay({
    title: cleanToWidth(title, 60),
    buildRows,
    close: () => app.overlays.close(overlay),
    onChange: () => app.notifyChange(),
  });
  app.overlays.open(overlay);
}
