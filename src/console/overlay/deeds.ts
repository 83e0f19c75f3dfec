import { createOf, deleteOf, editOf } from "../act/configuring.ts";
import { commandOf, type Deed, deedOf, type Possible } from "../act/deed.ts";
import { hasFlag } from "../act/preview.ts";
import { whyNot } from "../act/why-not.ts";
import type { App } from "../app/app.ts";
import { chosen } from "../app/marks.ts";
import { formOf } from "../form/form.ts";
import { Dialog } from "./dialog.ts";
import { openOutput } from "./output.ts";

/** A drain tells when nobody holds anything there any more, unless it is told not to: that is what one wants to know. */
const BEGINS_WITH: Readonly<Record<string, Deed["flags"]>> = { drain: { wait: true } };

/** Asks to do a command to what is chosen: the marked rows, or the one under the cursor. */
export function openDeed(app: App, id: string): void {
  const subjects = chosen(app);
  const all = (subjects.length === 0 ? [undefined] : subjects).map((one) =>
    deedOf(id, one, app.sight.picture),
  );
  openDialog(app, all);
}

/** Asks for all that a command needs. */
export function openCommand(app: App, id: string): void {
  const command = commandOf(id);
  if (hasFlag(command, "dry-run")) return openDialog(app, [{ command, args: [], fixed: 0, target: "" }]);
  const form = formOf(command);
  const needs = form.fields.some(({ isRequired }) => isRequired);
  if (needs) app.overlays.open(new Dialog(app, { title: id, forms: [form], targets: [""] }));
  else openOutput(app, command, [], id);
}

export function openEdit(app: App): void {
  openDialog(app, [editOf(app.subject(), app.sight.picture)]);
}

export function openCreate(app: App): void {
  openDialog(app, [createOf(app.state.tab)]);
}

export function openDelete(app: App): void {
  openDialog(app, chosen(app).map(deleteOf));
}

/** Opens the dialog of deeds that are possible; of those that are not, says why. */
export function openDialog(app: App, possible: readonly Possible[]): void {
  const obstacle = whyNot(app);
  if (obstacle !== undefined) return app.toast(obstacle, "problem");
  const deeds = possible.filter((one): one is Deed => "command" in one);
  const [first] = deeds;
  if (first === undefined) {
    const [why] = possible;
    return app.toast(why !== undefined && "reason" in why ? why.reason : "nothing is selected", "problem");
  }
  const { command } = first;
  const forms = deeds.map(({ args, flags, fixed = args.length }) =>
    formOf(command, { args, fixed, flags: { ...BEGINS_WITH[command.id], ...flags } }),
  );
  const many = deeds.length > 1 ? `${deeds.length} rows` : first.target;
  app.overlays.open(
    new Dialog(app, {
      title: `${command.id} ${many}`.trim(),
      forms,
      targets: deeds.map(({ target }) => target),
    }),
  );
}
