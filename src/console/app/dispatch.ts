import type { InputEvent } from "../input/event.ts";
import { HANDLERS } from "./actions.ts";
import type { App } from "./app.ts";
import { click, wheel } from "./mouse.ts";

/** Does what the user wants, told by a key, a click, or a paste. */
export function dispatch(app: App, event: InputEvent): void {
  if (event.kind === "key" && event.chord === "ctrl+c") return app.quit();
  if (event.kind === "key" && event.chord === "ctrl+z") return app.suspend();
  if (event.kind === "key" && event.chord === "ctrl+l") return app.changed();
  const overlay = app.overlays.top;
  if (overlay !== undefined) return overlay.onInput(event);
  if (event.kind === "mouse") return event.action.startsWith("wheel") ? wheel(app, event) : click(app, event);
  if (event.kind !== "key") return; // a paste is nobody's command
  const id = app.keymap.lookup(event.chord, app.state.focus === "panel" || app.state.focus === "detail" ? "list" : "list");
  if (id !== undefined) HANDLERS[id]?.(app);
}
