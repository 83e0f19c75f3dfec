/** What a terminal can tell the console, whatever bytes it told it in. */
export type InputEvent = KeyEvent | PasteEvent | MouseEvent | FocusEvent;

/**
 * A key, by its chord: what it types (`j`, `G`, `é`, `:`), or its name (`up`, `pageup`, `f1`, `enter`, `tab`, `escape`,
 * `space`, `backspace`, `delete`, `insert`, `home`, `end`), behind its modifiers in the order `ctrl+`, `alt+`, `shift+`.
 * Shift is no modifier of what types: it is `G`, never `shift+g`.
 */
export interface KeyEvent {
  kind: "key";
  chord: string;
  /** What it types into a field; undefined for keys that type nothing. */
  text?: string;
}

/** Pasted as a whole: never a command, whatever is in it. */
export interface PasteEvent {
  kind: "paste";
  text: string;
}

export interface MouseEvent {
  kind: "mouse";
  action: "press" | "release" | "drag" | "wheel-up" | "wheel-down";
  button: "left" | "middle" | "right" | "none";
  /** From 0, from the top left. */
  column: number;
  row: number;
}

/** The terminal's window has come to the front, or gone behind others. */
export interface FocusEvent {
  kind: "focus";
  has: boolean;
}
