import type { RowCommandId } from "../../commands/registry/registry.ts";
import { buildDetailLines, wrapProseLines } from "../../commands/see/detail.ts";
import type { Remedy, Subject } from "../../state/subject.ts";
import type { DetailTarget } from "../../views/detail.ts";
import { buildDetail } from "../data/detail-cache.ts";
import type { ConsoleJob } from "../data/jobs.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { createSameRowCheck } from "../parts/navigation.ts";
import {
  buildCreateAction,
  buildDeleteAction,
  buildEditAction,
  buildRowAction,
  findChangeObstacle,
  findPastObstacle,
  getCommandById,
  hasFlag,
  type RowAction,
  type RowActionResult,
} from "../parts/row-actions.ts";
import { createRow, type RowModel } from "../theme/cells.ts";
import { createForm } from "./dialog-form.ts";
import { DialogOverlay } from "./dialog-overlay.ts";
import { openOutput } from "./output.ts";
import { openText } from "./text-overlay.ts";

/**
 * Initial flags by command. A drain waits by default until nothing is held there any more: the user usually wants to
 * know.
 */
const BEGINS_WITH: Readonly<Record<string, RowAction["flags"]>> = { drain: { wait: true } };

/** Opens the dialog of a command for the marked rows, or for the row under the cursor. */
export function openRowAction(app: ConsoleParts, id: RowCommandId): void {
  const subjects = getChosenSubjects(app);
  const all = (subjects.length === 0 ? [undefined] : subjects).map((one) =>
    buildRowAction(id, one, app.liveView.snapshot),
  );
  openDialog(app, all);
}

/** Opens a form for everything that a command needs. */
export function openCommand(app: ConsoleParts, id: string): void {
  const command = getCommandById(id);
  const past = findPastObstacle(app.liveView);
  if (past !== undefined) return app.showToast(past, "problem");
  if (hasFlag(command, "dry-run")) return openDialog(app, [{ command, args: [], fixed: 0, target: "" }]);
  const form = createForm(command);
  const needs = form.fields.some(({ isRequired }) => isRequired);
  if (needs) app.overlays.open(new DialogOverlay(app, { title: id, forms: [form], targets: [""] }));
  else openOutput(app, command, [], id);
}

/** Opens the dialog of a command that changes something, with arguments that cannot be edited. */
export function openFixedCommand(app: ConsoleParts, id: string, args: readonly string[]): void {
  openDialog(app, [{ command: getCommandById(id), args, target: args.join(" ") }]);
}

export function openEdit(app: ConsoleParts): void {
  openDialog(app, [buildEditAction(app.getSubject(), app.liveView.snapshot)]);
}

export function openCreate(app: ConsoleParts): void {
  openDialog(app, [buildCreateAction(app.state.tab)]);
}

export function openDelete(app: ConsoleParts): void {
  openDialog(app, getChosenSubjects(app).map(buildDeleteAction));
}

/**
 * Opens the dialog of the row actions that are possible. If none is possible, shows why.
 * @param onDone  called when the confirmed commands have ended
 */
export function openDialog(
  app: ConsoleParts,
  possible: readonly RowActionResult[],
  onDone?: (jobs: readonly ConsoleJob[]) => void,
): void {
  const obstacle = findChangeObstacle(app);
  if (obstacle !== undefined)
    return app.showToast(obstacle, "problem", () => findChangeObstacle(app) === obstacle);
  const actions = possible.filter((one): one is RowAction => "command" in one);
  const [first] = actions;
  if (first === undefined) {
    const [why] = possible;
    const text = why !== undefined && "reason" in why ? why.reason : "nothing is selected";
    return app.showToast(text, "problem", createSameRowCheck(app));
  }
  const { command } = first;
  const forms = actions.map(({ args, flags, present, fixed = args.length }) =>
    createForm(command, { args, fixed, present, flags: { ...BEGINS_WITH[command.id], ...flags } }),
  );
  const many = actions.length > 1 ? `${actions.length} rows` : first.target;
  app.overlays.open(
    new DialogOverlay(app, {
      title: `${command.id} ${many}`.trim(),
      forms,
      targets: actions.map(({ target }) => target),
      onDone,
    }),
  );
}

/** Opens the dialog of a command that helps, with its values filled in. */
export function openRemedy(app: ConsoleParts, remedy: Remedy): void {
  openDialog(app, [buildRemedyAction(app, remedy)]);
}

/** Opens what a detail row leads to: the dialog of its remedy if it has one, otherwise its details. */
export function openTarget(app: ConsoleParts, target: DetailTarget): void {
  const { remedy, subject, lines, title } = target;
  if (remedy !== undefined) return openRemedy(app, remedy);
  if (lines !== undefined)
    openText(app, {
      title,
      buildRows: (width) => wrapProseLines(lines, app.theme.createLook(width)).map((line) => createRow(line)),
    });
  else if (subject !== undefined)
    openText(app, { title, buildRows: (width) => buildSubjectRows(app, subject, width) });
}

function buildRemedyAction(app: ConsoleParts, { command, args, flags }: Remedy): RowActionResult {
  const [name = ""] = args;
  if (command === "resource set") return buildEditAction({ kind: "resource", name }, app.liveView.snapshot);
  return { command: getCommandById(command), args, ...(flags && { flags }), target: args.join(" ") };
}

/** Builds the current details of a subject. Called for every frame, because its state can change. */
function buildSubjectRows(app: ConsoleParts, subject: Subject, width: number): RowModel[] {
  const inputs = { snapshot: app.liveView.snapshot, wall: app.getWallTime(), sessions: new Map(), facts: [] };
  const lines = buildDetailLines(buildDetail(subject, inputs), app.theme.createLook(width));
  return lines.map(({ spans }) => ({ cells: spans }));
}
