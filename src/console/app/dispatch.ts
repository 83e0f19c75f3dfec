import type { InputEvent } from "../input/event.ts";
import type { App } from "./app.ts";
import { click, wheel } from "./mouse.ts";

/** Does what the user wants, told by a key, a click, or a paste. */
export function dispatch(app: App, event: InputEvent): void {
  if (event.kind === "key" && EVERYWHERE.has(event.chord)) return act(app, event.chord);
  const overlay = app.overlays.top;
  if (overlay !== undefined) return overlay.onInput(event);
  if (event.kind === "mouse") return event.action.startsWith("wheel") ? wheel(app, event) : click(app, event);
  if (event.kind !== "key") return; // a paste is nobody's command
  act(app, event.chord);
}

/** Keys that mean the same whatever has the keyboard. */
const EVERYWHERE: ReadonlySet<string> = new Set(["ctrl+c", "ctrl+z", "ctrl+l"]);

function act(app: App, chord: string): void {
  const id = app.keymap.lookup(chord, "list");
  if (id !== undefined) app.act(id);
}
