import { isEditKey } from "../overlays/edit.ts";
import type { Overlay, OverlayBoxModel } from "../parts/overlay.ts";
import type {
  ActionRunner,
  ClockAccess,
  ContextAccess,
  CursorAccess,
  DialogPorts,
  HintAccess,
  KeymapAccess,
  LogAccess,
  OverlayAccess,
  SelectionAccess,
  TravelAccess,
} from "../parts/parts.ts";
import { createNamedKey } from "../terminal/chord.ts";
import type { InputEvent, MouseEvent } from "../terminal/event.ts";
import { handlePointer, handleWheel } from "./mouse.ts";

type DispatchParts = ActionRunner &
  ClockAccess &
  ContextAccess &
  HintAccess &
  CursorAccess &
  DialogPorts &
  LogAccess &
  TravelAccess &
  SelectionAccess;

/** Handles a key, a click or a paste. */
export function dispatch(app: DispatchParts, event: InputEvent): void {
  for (const one of splitAltChord(app, event)) handleEvent(app, one);
}

/**
 * Splits Alt with a key into Escape and the key if no action is bound to the chord. A terminal sends the same bytes
 * for both when they arrive in one read.
 */
function splitAltChord({ keymap, overlays }: KeymapAccess & OverlayAccess, event: InputEvent): InputEvent[] {
  if (event.kind !== "key") return [event];
  const [, key] = /^alt\+(.|[a-z0-9]+)$/su.exec(event.chord) ?? [];
  const isBound = keymap.findAction(event.chord, "list") !== undefined;
  const isTyping = overlays.top !== undefined && isEditKey(event.chord);
  if (key === undefined || isBound || isTyping) return [event];
  const keys = [createNamedKey("escape"), createNamedKey(key)];
  return keys.filter((one) => one !== undefined);
}

function handleEvent(app: DispatchParts, event: InputEvent): void {
  if (event.kind === "key" && EVERYWHERE.has(event.chord)) return runKeyAction(app, event.chord);
  const overlay = app.overlays.top;
  if (overlay !== undefined && isForTextProgram(app, event)) return runKeyAction(app, event.chord);
  if (overlay !== undefined) return handOver(app, overlay, event);
  if (event.kind === "mouse")
    return event.action.startsWith("wheel") ? handleWheel(app, event) : handlePointer(app, event);
  if (event.kind !== "key") return; // a paste is not a command
  runKeyAction(app, event.chord);
}

/** Hands an event to an overlay. A click is relative to its content as it was shown last. */
function handOver({ overlays }: OverlayAccess, overlay: Overlay, event: InputEvent): void {
  if (event.kind !== "mouse") return overlay.onInput(event);
  const box = overlays.shown[overlays.all.length - 1];
  if (box === undefined || overlays.shown.length !== overlays.all.length) return; // it was not shown yet
  overlay.onInput(toContentPosition(box, event));
}

/** Columns and rows between the corner of an overlay and its content. */
const FRAME = { columns: 2, rows: 1 };

/** Converts a position of the screen to one in the content of an overlay. */
function toContentPosition({ left, top }: OverlayBoxModel, event: MouseEvent): MouseEvent {
  return { ...event, column: event.column - left - FRAME.columns, row: event.row - top - FRAME.rows };
}

/** Keys with the same action everywhere. */
const EVERYWHERE: ReadonlySet<string> = new Set(["ctrl+c", "ctrl+z", "ctrl+l"]);

/** Actions that hand the text of an overlay to another program. */
const ON_TEXTS: ReadonlySet<string> = new Set(["pager", "editor"]);

/** Whether a key hands the text of the overlay to another program. In an overlay with fields it is a letter. */
function isForTextProgram(
  { keymap, overlays }: KeymapAccess & OverlayAccess,
  event: InputEvent,
): event is Extract<InputEvent, { kind: "key" }> {
  if (event.kind !== "key" || overlays.top?.getText === undefined) return false;
  return ON_TEXTS.has(keymap.findAction(event.chord, "list") ?? "");
}

function runKeyAction(app: ActionRunner & KeymapAccess, chord: string): void {
  const id = app.keymap.findAction(chord, "list");
  if (id !== undefined) app.act(id);
}
