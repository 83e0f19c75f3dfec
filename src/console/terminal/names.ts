/** Keys by the number before `~`. */
export const TILDE: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
  25: "f13",
  26: "f14",
  28: "f15",
  29: "f16",
  31: "f17",
  32: "f18",
  33: "f19",
  34: "f20",
};

/** Keys by the last letter of their sequence. */
export const LETTERS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
};

/** Keys by the letter after `ESC O`, including the keypad in application mode. */
export const SS3: Readonly<Record<string, string>> = {
  ...LETTERS,
  M: "enter",
  I: "tab",
  X: "=",
  j: "*",
  k: "+",
  l: ",",
  m: "-",
  n: ".",
  o: "/",
  " ": "space",
  ...Object.fromEntries(Array.from("pqrstuvwxy", (letter, digit) => [letter, String(digit)])),
};

/** The arrow keys of rxvt: with Shift after `ESC [`, with Ctrl after `ESC O`. */
export const RXVT_ARROWS: Readonly<Record<string, string>> = { a: "up", b: "down", c: "right", d: "left" };

/** Keys of the kitty protocol that type no character. */
export const KITTY: Readonly<Record<number, string>> = {
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
  57414: "enter",
  57417: "left",
  57418: "right",
  57419: "up",
  57420: "down",
  57421: "pageup",
  57422: "pagedown",
  57423: "home",
  57424: "end",
  57425: "insert",
  57426: "delete",
  ...Object.fromEntries(Array.from({ length: 8 }, (_, at) => [57376 + at, `f${13 + at}`])),
};

/** The keypad of the kitty protocol, by the character typed: `0` to `9`, then signs. */
export const KITTY_PAD = "0123456789./*-+";
export const KITTY_PAD_FIRST = 57399;
