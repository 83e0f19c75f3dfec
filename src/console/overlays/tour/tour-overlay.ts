import { wrapText } from "../../../commands/see/wrap.ts";
import { focusOn } from "../../navigation/focus.ts";
import type { Overlay, OverlayModel } from "../../parts/overlay.ts";
import { toScreenPosition } from "../../parts/overlay-position.ts";
import type { ChangeNotifier, OverlayAccess, StateUpdates, ThemeAccess } from "../../parts/parts.ts";
import type { ConsoleState } from "../../state/console-state.ts";
import type { InputEvent } from "../../terminal/input/event.ts";
import { createRow } from "../../theme/cells.ts";
import { listTourSteps, type TourInputs, type TourStep } from "./tour-steps.ts";

type TourParts = ChangeNotifier & OverlayAccess & StateUpdates & ThemeAccess & TourInputs;
/** Handles an event as if there were no tour. */
type Redispatch = (event: InputEvent) => void;

/** Widest box, columns. */
const WIDTH = 56;

/** Offers the tour to a user who is new, in one line that the next key removes. */
export function offerTour(app: TourParts, redispatch: Redispatch): void {
  app.overlays.open(new TourOffer(app, redispatch));
}

/** Shows the parts of the screen, one after the other. */
export function startTour(app: TourParts, redispatch: Redispatch): void {
  app.overlays.open(new TourOverlay(app, redispatch));
}

class TourOffer implements Overlay {
  readonly #app: TourParts;
  readonly #redispatch: Redispatch;

  constructor(app: TourParts, redispatch: Redispatch) {
    this.#app = app;
    this.#redispatch = redispatch;
  }

  onInput(event: InputEvent): void {
    if (event.kind === "focus") return;
    const box = this.#app.overlays.shown.at(-1);
    this.#app.overlays.close(this);
    if (event.kind === "mouse" && box !== undefined) return this.#redispatch(toScreenPosition(box, event));
    if (event.kind !== "key") return this.#redispatch(event);
    if (event.chord === "enter") startTour(this.#app, this.#redispatch);
    else if (event.chord !== "escape") this.#redispatch(event);
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const width = Math.min(WIDTH, available.width);
    const text = "Enter shows the screen in six short steps. Any other key goes on without.";
    const rows = wrapText(text, width).map((line) => createRow(line));
    return {
      title: "your first time here?",
      width,
      at: "bottom",
      content: { kind: "text", rows },
      hints: [
        ["Enter", "a tour"],
        ["Esc", "no"],
      ],
    };
  }
}

class TourOverlay implements Overlay {
  readonly #app: TourParts;
  readonly #redispatch: Redispatch;
  readonly #before: Pick<ConsoleState, "focus" | "zoomed">;
  #at = 0;

  constructor(app: TourParts, redispatch: Redispatch) {
    this.#app = app;
    this.#redispatch = redispatch;
    const { focus, zoomed } = app.state;
    this.#before = { focus, zoomed };
    app.update((state) => ({ ...state, zoomed: undefined }));
  }

  get #steps(): TourStep[] {
    return listTourSteps(this.#app);
  }

  onInput(event: InputEvent): void {
    if (event.kind === "focus" || event.kind === "mouse") return;
    const chord = event.kind === "key" ? event.chord : "";
    if (["enter", "right", "down"].includes(chord)) return this.#goTo(this.#at + 1);
    if (["left", "up"].includes(chord)) return this.#goTo(Math.max(0, this.#at - 1));
    this.#app.overlays.close(this);
    if (chord !== "escape") this.#redispatch(event);
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const steps = this.#steps;
    const step = steps[this.#at];
    const width = Math.min(WIDTH, available.width);
    const rows = wrapText(step?.text ?? "", width).map((line) => createRow(line));
    const layout = this.#app.getLayout();
    const isLast = this.#at === steps.length - 1;
    return {
      title: `tour ${this.#at + 1} of ${steps.length}: ${step?.title ?? ""}`,
      width,
      at: layout === undefined || step === undefined ? "middle" : step.place(layout, rows.length + 2),
      content: { kind: "text", rows },
      hints: [
        ["Enter", isLast ? "end" : "next"],
        ["←", "back"],
        ["Esc", "end"],
      ],
    };
  }

  /** Returns the keyboard to the pane that had it. */
  onClose(): void {
    const before = this.#before;
    this.#app.update((state) => ({ ...state, ...before }));
  }

  #goTo(at: number): void {
    const step = this.#steps[at];
    if (step === undefined) return this.#app.overlays.close(this);
    this.#at = at;
    focusOn(this.#app, step.pane ?? this.#before.focus);
    this.#app.notifyChange();
  }
}
