/** An event of the terminal, independent of its byte encoding. */
export type InputEvent = KeyEvent | PasteEvent | MouseEvent | FocusEvent;

/**
 * A key, as a chord: the character it types (`j`, `G`, `é`, `:`), or its name (`up`, `pageup`, `f1`, `enter`, `tab`,
 * `escape`, `space`, `backspace`, `delete`, `insert`, `home`, `end`), after its modifiers in the order `ctrl+`,
 * `alt+`, `shift+`. Shift is not a modifier of a character: the chord is `G`, never `shift+g`.
 */
export interface KeyEvent {
  kind: "key";
  chord: string;
  /** The text that it types into a field; undefined for keys that type nothing. */
  text?: string;
}

/** A paste as a whole. It is never taken for commands. */
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

/** The terminal window has got or lost the focus. */
export interface FocusEvent {
  kind: "focus";
  has: boolean;
}
