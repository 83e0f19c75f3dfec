import { EXIT } from "../../base/errors.ts";
import type { ConsoleJob, JobRequest } from "../data/jobs.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { Overlay, OverlayModel } from "../parts/overlay.ts";
import { type CommandPreview, findConfirmationWord, hasFlag } from "../parts/row-actions.ts";
import { START_CURSOR } from "../state/console-state.ts";
import type { InputEvent, MouseEvent } from "../terminal/input-event.ts";
import type { RowModel } from "../theme/cells.ts";
import {
  type Form,
  findFormFault,
  formatFormCommand,
  listArgumentValues,
  listContextWords,
  selectNextValue,
  setFieldValue,
  toCommandWords,
} from "./dialog-form.ts";
import { buildDialogModel, createJobRequest, type DialogView, findDialogObstacle } from "./dialog-model.ts";
import { DialogPreview } from "./dialog-preview.ts";
import { createField, editField, type TextField } from "./field.ts";
import { openJob, openOutput } from "./output.ts";

/** What a dialog shows before a command runs. */
interface DialogOptions {
  /** For example `drain host web1.example.com`. */
  title: string;
  /** One for each item; all of the same command. Their fields are filled in together. */
  forms: readonly Form[];
  /** Name of each item. */
  targets: readonly string[];
  /** The previews shown before a job was refused: the dialog marks what has changed since. */
  base?: readonly CommandPreview[] | undefined;
  /** Called when the confirmed commands have ended. */
  onDone?: ((jobs: readonly ConsoleJob[]) => void) | undefined;
}

/** Id of the field that asks for a confirmation before live runs are ended, so that one key too many does nothing. */
const CONFIRM = "confirm";

/** Shows what a command would do, lets the user fill in its flags, asks for confirmation, and runs it. */
export class DialogOverlay implements Overlay, DialogView {
  readonly app: ConsoleParts;
  readonly title: string;
  readonly targets: readonly string[];
  forms: readonly Form[];
  /** The field that has the keyboard: one of the form's, or `confirm`. */
  active: string;
  /** The text being typed, by field. */
  readonly typed = new Map<string, TextField>();
  readonly #preview: DialogPreview;
  top = 0;
  fault: string | undefined;
  /** The last frame: what a click can hit. */
  #shown: OverlayModel | undefined;
  /** Why the last Enter did nothing. Shown as the fault for as long as it is so. */
  #obstacle: string | undefined;
  readonly #onDone: DialogOptions["onDone"];

  constructor(app: ConsoleParts, { title, forms, targets, base, onDone }: DialogOptions) {
    this.app = app;
    this.#onDone = onDone;
    this.title = title;
    this.forms = forms;
    this.targets = targets;
    this.#preview = new DialogPreview(app, () => this.#onRunsChanged());
    this.#preview.base = base;
    for (const { id, value } of this.fields)
      if (typeof value === "string") this.typed.set(id, createField(value));
    this.typed.set(CONFIRM, createField());
    this.active = this.fields.find(({ isRequired, value }) => isRequired && value === "")?.id ?? CONFIRM;
    this.#requestPreviews(0);
  }

  /**
   * The fields of the first form; those of the other forms have the same values. Fixed fields, in which the forms
   * differ, are left out.
   */
  get fields(): Form["fields"] {
    return this.forms[0]?.fields.filter(({ isFixed }) => !isFixed) ?? [];
  }

  get previews(): readonly CommandPreview[] | undefined {
    return this.#preview.previews;
  }

  get base(): readonly CommandPreview[] | undefined {
    return this.#preview.base;
  }

  /** Whether a key can confirm what is on the screen. */
  get isReady(): boolean {
    return this.isReading || this.#preview.isRead;
  }

  /** The first missing or wrong value of the form. There is no preview until it is corrected. */
  get incomplete(): string | undefined {
    return this.forms.map(findFormFault).find((fault) => fault !== undefined);
  }

  get lines(): readonly string[] {
    return this.forms.map((form) => formatFormCommand(form, listContextWords(this.app.context)));
  }

  /** What the user must type to confirm; undefined where Enter is enough. */
  get word(): string | undefined {
    const [form] = this.forms;
    return form && findConfirmationWord(form.spec, this.forms.map(listArgumentValues), this.previews);
  }

  onInput(event: InputEvent): void {
    if (event.kind === "key" && this.#handleKey(event.chord)) return;
    if (event.kind === "mouse") return this.#handleMouse(event);
    const field = this.typed.get(this.active);
    const next = field && editField(field, event);
    if (next !== undefined) this.#updateField(next);
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    this.#preview.onShown();
    this.#clearPastObstacle();
    this.#shown = buildDialogModel(this, available);
    return this.#shown;
  }

  onClose(): void {
    this.#preview.end();
  }

  /** Handles keys that are not text. @returns whether the key was one of them */
  #handleKey(chord: string): boolean {
    const field = this.fields.find(({ id }) => id === this.active);
    switch (chord) {
      case "escape":
        this.app.overlays.close(this);
        return true;
      case "enter":
        this.#confirm();
        return true;
      case "tab":
      case "down":
        this.#moveFocus(1);
        return true;
      case "shift+tab":
      case "up":
        this.#moveFocus(-1);
        return true;
      case "pagedown":
      case "pageup":
        this.#scrollPreview(chord === "pagedown" ? 5 : -5);
        return true;
      case "space":
      case "left":
      case "right":
        if (field === undefined || field.kind === "text" || field.kind === "list") return false;
        this.#updateForms((form) => selectNextValue(form, field.id, chord === "left" ? -1 : 1));
        return true;
      default:
        return false;
    }
  }

  /** Gives the keyboard to the field that is clicked; a click on a choice that has it selects the next value. */
  #handleMouse({ action, row }: MouseEvent): void {
    if (action === "wheel-down" || action === "wheel-up")
      return this.#scrollPreview(action === "wheel-down" ? 3 : -3);
    const id =
      action === "press" && this.#shown !== undefined ? findFieldAt(this, this.#shown, row) : undefined;
    if (id === undefined) return;
    if (id === this.active) void this.#handleKey("right");
    this.active = id;
    this.app.notifyChange();
  }

  #scrollPreview(by: number): void {
    this.top = Math.max(0, this.top + by);
    this.app.notifyChange();
  }

  #moveFocus(by: 1 | -1): void {
    const ids = [...this.fields.map(({ id }) => id), CONFIRM];
    this.active = ids[(ids.indexOf(this.active) + by + ids.length) % ids.length] ?? CONFIRM;
    this.app.notifyChange();
  }

  #updateField(field: TextField): void {
    this.typed.set(this.active, field);
    this.fault = undefined;
    if (this.active === CONFIRM && field.text === this.word) this.#preview.onRead();
    if (this.active === CONFIRM) this.app.notifyChange();
    else this.#setValue(this.active, field.text);
  }

  #setValue(id: string, value: string): void {
    this.#updateForms((form) => setFieldValue(form, id, value));
  }

  #updateForms(change: (form: Form) => Form): void {
    this.forms = this.forms.map(change);
    this.#preview.base = undefined;
    this.#requestPreviews();
    this.app.notifyChange();
  }

  /** Whether the command changes nothing: there is nothing to preview, and its result is a text. */
  get isReading(): boolean {
    const [form] = this.forms;
    return form !== undefined && !hasFlag(form.spec, "dry-run");
  }

  #requestPreviews(pause?: number): void {
    const [form] = this.forms;
    if (form !== undefined && !this.isReading && this.incomplete === undefined)
      this.#preview.request({ command: form.spec, items: this.forms.map(toCommandWords) }, pause);
  }

  /** Removes the message about an obstacle that is no more, for example that etcd was away. */
  #clearPastObstacle(): void {
    if (this.#obstacle === undefined || this.#obstacle === this.#findObstacle()) return;
    if (this.fault === this.#obstacle) this.fault = undefined;
    this.#obstacle = undefined;
  }

  #findObstacle(): string | undefined {
    return findDialogObstacle(this.app, this, this.typed.get(CONFIRM)?.text ?? "");
  }

  #confirm(): void {
    this.#obstacle = this.#findObstacle();
    this.fault = this.#obstacle;
    if (!this.isReady) this.#preview.onEarlyKey();
    if (this.#obstacle !== undefined) return this.app.notifyChange();
    if (this.isReading) return this.#runReadOnly();
    const requests = this.forms.map((form, at) => this.#buildJobRequest(form, at));
    this.app.overlays.close(this);
    void runJobRequests(this.app, requests).then((jobs) => this.#onDone?.(jobs));
  }

  /** Builds the request of one form. If the job is refused, the dialog opens again with all fields kept. */
  #buildJobRequest(form: Form, at: number): JobRequest {
    const { app } = this;
    const target = this.targets[at] ?? "";
    const preview = this.#preview.bound?.[at];
    const title = this.forms.length === 1 ? this.title : `${form.spec.id} ${target}`;
    const base = preview && [preview];
    const again = { title, forms: [form], targets: [target], base, onDone: this.#onDone };
    const reopen = () => app.overlays.open(new DialogOverlay(app, again));
    return createJobRequest(form, { target, preview, reopen, more: listContextWords(app.context) });
  }

  /** Clears the confirmation that was typed: it was for other runs. */
  #onRunsChanged(): void {
    this.typed.set(CONFIRM, createField());
    this.fault = "the runs to end have changed: read the preview again";
  }

  #runReadOnly(): void {
    const [form] = this.forms;
    this.app.overlays.close(this);
    if (form !== undefined)
      openOutput(
        this.app,
        form.spec,
        toCommandWords(form),
        [form.spec.id, ...toCommandWords(form)].join(" "),
      );
  }
}

/** Returns the id of the field on a line of a dialog as it was shown; `confirm` for the confirmation. */
function findFieldAt(
  { fields, active }: { fields: readonly { id: string }[]; active: string },
  { content }: OverlayModel,
  line: number,
): string | undefined {
  if (content.kind !== "dialog") return undefined;
  const at = line - content.preview.length - 1;
  if (at >= 0 && at < content.fields.length) {
    // A long form shows only the fields around the active one, so the active one tells which these are.
    const index = fields.findIndex(({ id }) => id === active);
    const shown = content.fields.findIndex(isActive);
    return fields[at + (shown < 0 ? 0 : index - shown)]?.id;
  }
  const first = content.fields.length + 2; // a blank line and the command line
  return at >= first && at < first + content.confirmation.length ? "confirm" : undefined;
}

function isActive({ cells: [sign] }: RowModel): boolean {
  return sign?.text === ">";
}

/** Maximum number of jobs that run at the same time. */
const AT_ONCE = 4;

/** Runs confirmed requests, each as its own job, and reports the results. @returns the ended jobs */
async function runJobRequests(
  app: ConsoleParts,
  requests: readonly JobRequest[],
): Promise<readonly ConsoleJob[]> {
  const results: ConsoleJob[] = [];
  const next = requests.values();
  const runNext = async () => {
    for (const request of next) results.push(await app.jobs.start(request).done);
  };
  app.update((state) => ({
    ...state,
    panel: { ...state.panel, id: "jobs", isOpen: true, cursor: START_CURSOR },
  }));
  await Promise.all(Array.from({ length: AT_ONCE }, runNext));
  reportResults(app, results);
  return results;
}

/** Within this time after a confirmation, ms, a refused job opens at once. Later the user may be elsewhere. */
const SOON = 5_000;

function reportResults(app: ConsoleParts, results: readonly ConsoleJob[]): void {
  const [only] = results;
  if (results.length > 1) return reportResultCounts(app, results);
  if (only === undefined) return;
  const { code, startedAt, endedAt = startedAt } = only;
  const isSoon = endedAt - startedAt < SOON && app.overlays.top === undefined;
  if (code === EXIT.changed && isSoon) return openJob(app, only.id);
  app.showToast(formatJobToast(app, only), code === EXIT.ok ? "held" : "problem");
}

function reportResultCounts(app: ConsoleParts, results: readonly ConsoleJob[]): void {
  const bad = results.filter(({ code }) => code !== EXIT.ok).length;
  if (bad === 0) app.showToast(`all ${results.length} jobs are done`, "held");
  else app.showToast(`${bad} of ${results.length} jobs failed: press Enter on a job to see why`, "problem");
}

function formatJobToast(app: ConsoleParts, { title, lines, code, outcome }: ConsoleJob): string {
  const end = code === EXIT.ok ? "done" : `exit ${code}`;
  const isDrained = outcome?.result.kind === "drain" && code === EXIT.ok;
  const [undo] = isDrained ? app.keymap.getKeyLabels("undrain") : [];
  return `${title}: ${lines.at(-1) ?? end}${undo === undefined ? "" : `; ${undo} lifts it`}`;
}
