import { carryOut } from "../act/carry-out.ts";
import { hasFlag, type Preview } from "../act/preview.ts";
import type { App } from "../app/app.ts";
import { edit } from "../field/edit.ts";
import { type Field, fieldOf } from "../field/field.ts";
import { faultOf } from "../form/faults.ts";
import { type Form, withValue } from "../form/form.ts";
import { lineOf, wordsOf } from "../form/words.ts";
import type { InputEvent } from "../input/event.ts";
import { errandOf, obstacleOf } from "./dialog-errands.ts";
import { type DialogView, dialogPicture } from "./dialog-picture.ts";
import { DialogPreview } from "./dialog-preview.ts";
import { openOutput } from "./output.ts";
import type { Overlay, OverlayPicture } from "./overlay.ts";

/** What is asked before something is done. */
export interface DialogWish {
  /** `drain host web1.example.com`. */
  title: string;
  /** One an item; all of the same command. Their fields are filled in together. */
  forms: readonly Form[];
  /** What each item is about. */
  targets: readonly string[];
}

/** What must be typed where somebody alive is ended, so that a key too many does nothing. */
const CONFIRM = "confirm";

/** Shows what a command would do, lets its flags be filled in, asks, and does it. */
export class Dialog implements Overlay, DialogView {
  readonly app: App;
  readonly title: string;
  readonly targets: readonly string[];
  forms: readonly Form[];
  /** Which field has the keyboard: one of the form's, or `confirm`. */
  active: string;
  /** What is being typed, by field. */
  readonly typed = new Map<string, Field>();
  readonly #preview: DialogPreview;
  #isHasty = false;
  /** Lines of the preview that are scrolled away. */
  top = 0;
  fault: string | undefined;

  constructor(app: App, { title, forms, targets }: DialogWish) {
    this.app = app;
    this.title = title;
    this.forms = forms;
    this.targets = targets;
    this.#preview = new DialogPreview(app);
    for (const { id, value } of this.fields)
      if (typeof value === "string") this.typed.set(id, fieldOf(value));
    this.typed.set(CONFIRM, fieldOf());
    this.active = this.fields.find(({ isRequired, value }) => isRequired && value === "")?.id ?? CONFIRM;
    this.#ask(0);
  }

  /** The fields of the first form: those of the others have the same values. What tells them apart is settled. */
  get fields(): Form["fields"] {
    return this.forms[0]?.fields.filter(({ isFixed }) => !isFixed) ?? [];
  }

  get previews(): readonly Preview[] | undefined {
    return this.#preview.previews;
  }

  /** Whether a key can mean what is on the screen. */
  get isReady(): boolean {
    return this.isReading || this.#preview.isRead;
  }

  /** What is still missing in the form, or wrong: there is nothing to preview before. */
  get incomplete(): string | undefined {
    return this.forms.map(faultOf).find((fault) => fault !== undefined);
  }

  /** The same from a shell. */
  get lines(): readonly string[] {
    return this.forms.map((form) => lineOf(form));
  }

  /** What must be typed before it is done; undefined where Enter is enough. */
  get word(): string | undefined {
    const [form] = this.forms;
    const endsLive = this.previews?.some(({ isLive: isAlive }) => isAlive) === true;
    const isAll = form?.spec.id === "drain" && wordsOf(form).includes("all");
    if (!endsLive && !isAll) return undefined;
    if (this.forms.length > 1) return String(this.forms.length);
    return isAll ? "all" : (this.targets[0] ?? "").replace(/^\S+ /, "");
  }

  onInput(event: InputEvent): void {
    if (event.kind === "key" && this.#command(event.chord)) return;
    const field = this.typed.get(this.active);
    const next = field && edit(field, event);
    if (next !== undefined) this.#type(next);
  }

  paint(room: { width: number; height: number }): OverlayPicture {
    this.#preview.onShown();
    if (this.#isHasty && this.isReady) this.#forgive();
    return dialogPicture(this, room);
  }

  onClose(): void {
    this.#preview.end();
  }

  /** Keys that are no text. @returns whether it was one */
  #command(chord: string): boolean {
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
        this.#go(1);
        return true;
      case "shift+tab":
      case "up":
        this.#go(-1);
        return true;
      case "pagedown":
      case "pageup":
        this.top = Math.max(0, this.top + (chord === "pagedown" ? 5 : -5));
        this.app.changed();
        return true;
      case "space":
      case "left":
      case "right":
        if (field === undefined || field.kind === "text" || field.kind === "list") return false;
        this.#turn(field);
        return true;
      default:
        return false;
    }
  }

  #go(by: 1 | -1): void {
    const ids = [...this.fields.map(({ id }) => id), CONFIRM];
    this.active = ids[(ids.indexOf(this.active) + by + ids.length) % ids.length] ?? CONFIRM;
    this.app.changed();
  }

  /** The next value of a switch or a choice. */
  #turn(field: Form["fields"][number]): void {
    if (field.kind === "switch") return this.#set(field.id, field.value !== true);
    const choices = ["", ...(field.choices ?? [])];
    this.#set(field.id, choices[(choices.indexOf(String(field.value)) + 1) % choices.length] ?? "");
  }

  #type(field: Field): void {
    this.typed.set(this.active, field);
    this.fault = undefined;
    if (this.active === CONFIRM && field.text === this.word) this.#preview.onRead();
    if (this.active === CONFIRM) this.app.changed();
    else this.#set(this.active, field.text);
  }

  #set(id: string, value: string | boolean): void {
    this.forms = this.forms.map((form) => withValue(form, id, value));
    this.#ask();
    this.app.changed();
  }

  /** It changes nothing: there is nothing to preview, and its answer is a text. */
  get isReading(): boolean {
    const [form] = this.forms;
    return form !== undefined && !hasFlag(form.spec, "dry-run");
  }

  #ask(pause?: number): void {
    const [form] = this.forms;
    if (form !== undefined && !this.isReading && this.incomplete === undefined)
      this.#preview.ask({ command: form.spec, items: this.forms.map(wordsOf) }, pause);
  }

  /** What was said of a key that came too early holds no longer. */
  #forgive(): void {
    this.#isHasty = false;
    this.fault = undefined;
  }

  #confirm(): void {
    this.fault = obstacleOf(this.app, this, this.typed.get(CONFIRM)?.text ?? "");
    this.#isHasty = !this.isReady;
    if (this.#isHasty) this.#preview.onHaste();
    if (this.fault !== undefined) return this.app.changed();
    if (this.isReading) return this.#read();
    const errands = this.forms.map((form, at) => errandOf(form, this.targets[at] ?? "", this.previews?.[at]));
    this.app.overlays.close(this);
    void carryOut(this.app, errands);
  }

  #read(): void {
    const [form] = this.forms;
    this.app.overlays.close(this);
    if (form !== undefined)
      openOutput(this.app, form.spec, wordsOf(form), [form.spec.id, ...wordsOf(form)].join(" "));
  }
}
