import { type ParseResult, quoteText } from "./text.ts";

// The notation of keys: `Ctrl+P`, `G`, `PgDn`.

/** Displayed names of keys, by their internal names. */
const DISPLAYED_NAMES: Readonly<Record<string, string>> = {
  pageup: "PgUp",
  pagedown: "PgDn",
  escape: "Esc",
  enter: "Enter",
  tab: "Tab",
  space: "Space",
  up: "↑",
  down: "↓",
  left: "←",
  right: "→",
  home: "Home",
  end: "End",
  insert: "Ins",
  delete: "Del",
  backspace: "Backspace",
  ctrl: "Ctrl",
  alt: "Alt",
  shift: "Shift",
};

/** Accepted alternative names of keys. */
const ALTERNATIVE_NAMES: Readonly<Record<string, string>> = {
  pgup: "pageup",
  pgdn: "pagedown",
  pgdown: "pagedown",
  esc: "escape",
  return: "enter",
  del: "delete",
  ins: "insert",
  "↑": "up",
  "↓": "down",
  "←": "left",
  "→": "right",
  " ": "space",
  spacebar: "space",
  control: "ctrl",
  ctl: "ctrl",
  meta: "alt",
  option: "alt",
  opt: "alt",
};
const NAMED_KEYS =
  /^(?:f(?:1\d|20|[1-9])|pageup|pagedown|escape|enter|tab|space|up|down|left|right|home|end|insert|delete|backspace)$/;
const MODIFIERS = ["ctrl", "alt", "shift"] as const;

interface ChordParts {
  modifiers: ReadonlySet<string>;
  key: string;
}

/** Formats a chord for display: `Ctrl+P`, `PgUp`, `G`, `Alt+Shift+G`. */
export function formatChord(chord: string): string {
  const { modifiers, key } = splitChord(chord);
  const isCapital = modifiers.has("alt") && isLetter(key) && key !== key.toLowerCase();
  const all = isCapital ? new Set([...modifiers, "shift"]) : modifiers;
  const isUpper = modifiers.size > 0 || NAMED_KEYS.test(key);
  const name = DISPLAYED_NAMES[key] ?? (isUpper ? key.toUpperCase() : key);
  return [
    ...MODIFIERS.filter((modifier) => all.has(modifier)).map(
      (modifier) => DISPLAYED_NAMES[modifier] ?? modifier,
    ),
    name,
  ].join("+");
}

/**
 * Parses a chord as users write it, in any case and order: `Ctrl+P`, `pgdn`, `Shift-Tab`. A single letter is
 * case-sensitive: `g` is not `G`.
 * @returns the chord in the form of `KeyEvent`, or why it is not valid
 */
export function parseChord(text: string): ParseResult<string> {
  const { modifiers, key } = splitChord(text === " " ? text : text.trim());
  const chord = {
    modifiers: new Set([...modifiers].map((modifier) => findKeyName(modifier) ?? modifier)),
    key: findKeyName(key) ?? key,
  };
  const fault = findSyntaxFault(chord) ?? findTerminalFault(chord);
  return fault === undefined ? { value: joinChord(chord) } : { fault: `${quoteText(text)} ${fault}` };
}

function findKeyName(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(ALTERNATIVE_NAMES, lower)) return ALTERNATIVE_NAMES[lower];
  return NAMED_KEYS.test(lower) || MODIFIERS.some((modifier) => modifier === lower) ? lower : undefined;
}

/** Joins a chord. With Ctrl or Alt, letters are lower case; Shift with a letter becomes the capital letter. */
function joinChord({ modifiers, key }: ChordParts): string {
  if (!isLetter(key)) return [...MODIFIERS.filter((modifier) => modifiers.has(modifier)), key].join("+");
  const isSmall = modifiers.size > 0 && !modifiers.has("shift");
  const letter = isSmall ? key.toLowerCase() : modifiers.has("shift") ? key.toUpperCase() : key;
  return [...MODIFIERS.filter((modifier) => modifier !== "shift" && modifiers.has(modifier)), letter].join(
    "+",
  );
}

function findSyntaxFault({ modifiers, key }: ChordParts): string | undefined {
  const strange = [...modifiers].find((name) => !MODIFIERS.some((modifier) => modifier === name));
  if (strange !== undefined) return `begins with ${quoteText(strange)}; it must be one of Ctrl, Alt, Shift`;
  if (NAMED_KEYS.test(key) || /^[^\p{C}\p{Z}]$/u.test(key)) return undefined;
  return "is not a key; write it as x, G, Ctrl+P, F5, PgDn, Space or Shift+Tab";
}

const NEVER_SENT = "is not sent to programs by terminals";
const SAME_KEY_ALONE = "is the same as the key alone in most terminals";
/** Keys that Ctrl turns into another key. */
const SAME_KEYS: Readonly<Record<string, string>> = {
  i: "Tab",
  m: "Enter",
  "[": "Esc",
  "?": "Backspace",
  "@": "Ctrl+Space",
};

/** Returns why a terminal does not send a chord to programs. */
function findTerminalFault({ modifiers, key }: ChordParts): string | undefined {
  const hasModifier = (modifier: string) => modifiers.has(modifier);
  if (NAMED_KEYS.test(key)) return findNamedKeyFault(modifiers, key);
  if (hasModifier("shift") && (hasModifier("ctrl") || !isLetter(key)))
    return hasModifier("ctrl") ? NEVER_SENT : "must be written as the character that it types, such as !";
  if (hasModifier("ctrl")) {
    const same = SAME_KEYS[key.toLowerCase()];
    if (same !== undefined) return `is ${same} to a terminal`;
    return /^[a-z\\\]^_]$/i.test(key) ? undefined : NEVER_SENT;
  }
  const begins = `${hasModifier("shift") ? key.toUpperCase() : key.toLowerCase()}`;
  return hasModifier("alt") && /^[[\]OPX^_]$/.test(begins)
    ? "begins the codes of other keys in a terminal"
    : undefined;
}

function findNamedKeyFault(modifiers: ReadonlySet<string>, key: string): string | undefined {
  if (key === "tab") return modifiers.has("ctrl") || modifiers.has("alt") ? NEVER_SENT : undefined;
  const isTyped = ["space", "enter", "escape", "backspace"].includes(key);
  if (!isTyped || modifiers.size === 0) return undefined;
  if (modifiers.has("shift") || (modifiers.has("ctrl") && key !== "space")) return SAME_KEY_ALONE;
  return key === "escape" ? SAME_KEY_ALONE : undefined;
}

function isLetter(key: string): boolean {
  return /^\p{L}$/u.test(key) && [...key.toUpperCase()].length === 1;
}

/** Splits a chord. The key itself may be `+` or `-`. */
function splitChord(chord: string): ChordParts {
  const [, before = "", key = chord] = /^((?:[^+-]+[+-])*)(.[^+-]*)$/su.exec(chord) ?? [];
  return { modifiers: new Set(before.split(/[+-]/).filter(Boolean)), key };
}
