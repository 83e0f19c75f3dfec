import type { RowCommandId } from "../../commands/registry/registry.ts";
import type { ConsoleJob } from "../data/jobs.ts";
import { findChangeObstacle, findPastObstacle } from "../parts/change-obstacle.ts";
import { buildCreateAction, buildDeleteAction, buildEditAction } from "../parts/configuration-actions.ts";
import { createSameRowCheck } from "../parts/focus.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import type { DialogPorts, SelectionAccess, SubjectAccess } from "../parts/parts.ts";
import { hasFlag } from "../parts/preview.ts";
import { buildRowAction, getCommandById, type RowAction, type RowActionResult } from "../parts/row-action.ts";
import { createForm } from "./dialog-form.ts";
import { DialogOverlay } from "./dialog-overlay.ts";
import { openOutput } from "./output.ts";

/**
 * Initial flags by command. A drain waits by default until nothing is held there any more: the user usually wants to
 * know.
 */
const BEGINS_WITH: Readonly<Record<string, RowAction["flags"]>> = { drain: { wait: true } };

/** Opens the dialog of a command for the marked rows, or for the row under the cursor. */
export function openRowAction(app: DialogPorts & SelectionAccess, id: RowCommandId): void {
  const subjects = getChosenSubjects(app);
  const all = (subjects.length === 0 ? [undefined] : subjects).map((one) =>
    buildRowAction(id, one, app.liveView.snapshot),
  );
  openDialog(app, all);
}

/** Opens a form for everything that a command needs. */
export function openCommand(app: DialogPorts, id: string): void {
  const command = getCommandById(id);
  const past = findPastObstacle(app);
  if (past !== undefined) return app.showToast(past, "problem");
  if (hasFlag(command, "dry-run")) return openDialog(app, [{ command, args: [], fixed: 0, target: "" }]);
  const form = createForm(command);
  const needs = form.fields.some(({ isRequired }) => isRequired);
  if (needs) app.overlays.open(new DialogOverlay(app, { title: id, forms: [form], targets: [""] }));
  else openOutput(app, command, [], id);
}

/** Opens the dialog of a command that changes something, with arguments that cannot be edited. */
export function openFixedCommand(app: DialogPorts, id: string, args: readonly string[]): void {
  openDialog(app, [{ command: getCommandById(id), args, target: args.join(" ") }]);
}

export function openEdit(app: DialogPorts & SubjectAccess): void {
  openDialog(app, [buildEditAction(app.getSubject(), app.liveView.snapshot)]);
}

export function openCreate(app: DialogPorts): void {
  openDialog(app, [buildCreateAction(app.state.tab)]);
}

export function openDelete(app: DialogPorts & SelectionAccess): void {
  openDialog(app, getChosenSubjects(app).map(buildDeleteAction));
}

/**
 * Opens the dialog of the row actions that are possible. If none is possible, shows why.
 * @param onDone  called when the confirmed commands have ended
 */
export function openDialog(
  app: DialogPorts,
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
