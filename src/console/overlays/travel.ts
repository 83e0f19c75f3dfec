import { PAST_TARGET_FORM, parsePastTarget } from "../data/time-travel.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { Overlay, OverlayModel } from "../parts/overlay.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { createRow } from "../theme/cells.ts";
import { buildFieldCells, createField, editField, type TextField } from "./field.ts";

/** Asks for a time, and shows the console as it was then. */
export function openTravelPrompt(app: ConsoleParts): void {
  app.overlays.open(new TravelPrompt(app));
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

const WIDEST = 76;

/** Asks for a time. Stays open until it is one. */
class TravelPrompt implements Overlay {
  readonly #app: ConsoleParts;
  #field: TextField = createField();
  #fault: string | undefined;

  constructor(app: ConsoleParts) {
    this.#app = app;
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
    return {
      title: "show a past time",
      content: {
        kind: "text",
        rows: [
          createRow(`${PAST_TARGET_FORM} (UTC)`, "quiet"),
          { cells: buildFieldCells(this.#field, width) },
          ...(this.#fault === undefined ? [] : [createRow(this.#fault, "problem")]),
        ],
      },
      hints: [
        ["Enter", "go"],
        ["Esc", "cancel"],
      ],
      width,
      at: "middle",
    };
  }

  #submit(): void {
    this.#fault = startTravel(this.#app, this.#field.text.trim());
    if (this.#fault === undefined) this.#app.overlays.close(this);
    else this.#app.notifyChange();
  }
}
