import { PAST_TARGET_FORM, parsePastTarget } from "../data/time-travel.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { Overlay, OverlayModel } from "../parts/overlay.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { createRow } from "../theme/cells.ts";
import { buildFieldCells, createField, editField, type TextField } from "./field.ts";

/** Asks for a time, and shows the console as it was then. */
export function openTravelPrompt(app: ConsoleParts): void {
  openPrompt(app, {
    title: "show a past time",
    help: `${PAST_TARGET_FORM} (UTC)`,
    verb: "go",
    onSubmit: (text) => startTravel(app, text),
  });
}

/** Shows the console as it was at a time, as typed. */
export function travelTo(app: ConsoleParts, text: string): void {
  const fault = startTravel(app, text);
  if (fault !== undefined) app.showToast(fault, "problem");
}

/** @returns why the text is no time */
function startTravel(app: ConsoleParts, text: string): string | undefined {
  const target = parsePastTarget(text, app.getPresentTime());
  if ("fault" in target) return target.fault;
  app.travel.go(target);
  return undefined;
}

/** A question with one line as its answer. */
interface PromptOptions {
  title: string;
  /** What to write. */
  help: string;
  /** What Enter does. */
  verb: string;
  /** @returns why the answer was not accepted; the prompt then stays open. Undefined closes it. */
  onSubmit(text: string): string | undefined;
}

const WIDEST = 76;

/** Asks for one line. */
function openPrompt(app: ConsoleParts, options: PromptOptions): void {
  app.overlays.open(new Prompt(app, options));
}

class Prompt implements Overlay {
  readonly #app: ConsoleParts;
  readonly #options: PromptOptions;
  #field: TextField = createField();
  #fault: string | undefined;

  constructor(app: ConsoleParts, options: PromptOptions) {
    this.#app = app;
    this.#options = options;
  }

  onInput(event: InputEvent): void {
    if (event.kind === "key" && event.chord === "escape") return this.#app.overlays.close(this);
    if (event.kind === "key" && event.chord === "enter") return this.#submit();
    const next = editField(this.#field, event);
    if (next === undefined) return;
    this.#field = next;
    this.#fault = undefined;
    this.#app.notifyChange();
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const width = Math.min(WIDEST, available.width);
    const { title, help, verb } = this.#options;
    return {
      title,
      content: {
        kind: "text",
        rows: [
          createRow(help, "quiet"),
          { cells: buildFieldCells(this.#field, width) },
          ...(this.#fault === undefined ? [] : [createRow(this.#fault, "problem")]),
        ],
      },
      hints: [
        ["Enter", verb],
        ["Esc", "cancel"],
      ],
      width,
      at: "middle",
    };
  }

  #submit(): void {
    this.#fault = this.#options.onSubmit(this.#field.text.trim());
    if (this.#fault === undefined) this.#app.overlays.close(this);
    else this.#app.notifyChange();
  }
}
