import type { InputEvent } from "./event.ts";
export function readKeys(onEvent: (event: InputEvent) => void) {
  return { feed(bytes: Buffer) { const s = bytes.toString();
    const m: Record<string, string> = { "\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left", "\r": "enter", "\x1b": "escape", "\t": "tab", " ": "space", "\x7f": "backspace", "\x03": "ctrl+c", "\x1a": "ctrl+z", "\x10": "ctrl+p", "\x1b[Z": "shift+tab" };
    if (m[s]) onEvent({ kind: "key", chord: m[s], ...(s === " " && { text: " " }) });
    else for (const c of s) if (c >= " ") onEvent({ kind: "key", chord: c, text: c });
  } };
}
