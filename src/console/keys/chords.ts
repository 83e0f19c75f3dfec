import { type Parsed, quoted } from "../../base/text.ts";

/** Names of keys as they are written, by what they are called here. */
const SHOWN: Readonly<Record<string, string>> = {
  ...{ pageup: "PgUp", pagedown: "PgDn", escape: "Esc", enter: "Enter", tab: "Tab", space: "Space" },
  ...{ up: "↑", down: "↓", left: "←", right: "→", home: "Home", end: "End", insert: "Ins", delete: "Del" },
  ...{ backspace: "Backspace", ctrl: "Ctrl", alt: "Alt", shift: "Shift" },
};

/** Other names that people write. */
const MEANT: Readonly<Record<string, string>> = {
  ...{ pgup: "pageup", pgdn: "pagedown", pgdown: "pagedown", esc: "escape", return: "enter", del: "delete" },
  ...{ ins: "insert", "↑": "up", "↓": "down", "←": "left", "→": "right", " ": "space", spacebar: "space" },
  ...{ control: "ctrl", ctl: "ctrl", meta: "alt", option: "alt", opt: "alt" },
};
const NAMED =
  /^(?:f(?:1\d|20|[1-9])|pageup|pagedown|escape|enter|tab|space|up|down|left|right|home|end|insert|delete|backspace)$/;
const MODIFIERS = ["ctrl", "alt", "shift"] as const;

/** A chord, taken apart. */
interface Parts {
  modifiers: ReadonlySet<string>;
  key: string;
}

/** A chord for people: `Ctrl+P`, `PgUp`, `G`, `Alt+Shift+G`. */
export function chordText(chord: string): string {
  const { modifiers, key } = parts(chord);
  const isCapital = modifiers.has("alt") && isLetter(key) && key !== key.toLowerCase();
  const all = isCapital ? new Set([...modifiers, "shift"]) : modifiers;
  const isUpper = modifiers.size > 0 || NAMED.test(key);
  const name = SHOWN[key] ?? (isUpper ? key.toUpperCase() : key);
  return [...MODIFIERS.filter((one) => all.has(one)).map((one) => SHOWN[one] ?? one), name].join("+");
}

/**
 * A chord as people write it, in whatever case and order: `Ctrl+P`, `pgdn`, `Shift-Tab`. A letter alone is the one that it
 * types: `g` is not `G`.
 * @returns the chord as `KeyEvent` has it, or why it cannot be one
 */
export function parseChord(text: string): Parsed<string> {
  const { modifiers, key } = parts(text === " " ? text : text.trim());
  const chord = {
    modifiers: new Set([...modifiers].map((one) => known(one) ?? one)),
    key: known(key) ?? key,
  };
  const fault = malformed(chord) ?? unreachable(chord);
  return fault === undefined ? { value: joined(chord) } : { fault: `${quoted(text)} ${fault}` };
}

function known(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(MEANT, lower)) return MEANT[lower];
  return NAMED.test(lower) || MODIFIERS.some((one) => one === lower) ? lower : undefined;
}

/** With Ctrl or Alt letters are small; Shift and a letter is what it types. */
function joined({ modifiers, key }: Parts): string {
  if (!isLetter(key)) return [...MODIFIERS.filter((one) => modifiers.has(one)), key].join("+");
  const isSmall = modifiers.size > 0 && !modifiers.has("shift");
  const letter = isSmall ? key.toLowerCase() : modifiers.has("shift") ? key.toUpperCase() : key;
  return [...MODIFIERS.filter((one) => one !== "shift" && modifiers.has(one)), letter].join("+");
}

function malformed({ modifiers, key }: Parts): string | undefined {
  const strange = [...modifiers].find((one) => !MODIFIERS.some((modifier) => modifier === one));
  if (strange !== undefined) return `begins with ${quoted(strange)}, which is none of Ctrl, Alt and Shift`;
  if (NAMED.test(key) || /^[^\p{C}\p{Z}]$/u.test(key)) return undefined;
  return "is not a key; write it as x, G, Ctrl+P, F5, PgDn, Space or Shift+Tab";
}

const NEVER = "does not reach programs in a terminal";
const UNSURE = "is told apart from the key alone by few terminals";
/** What Ctrl makes of a letter is another key. */
const SAME: Readonly<Record<string, string>> = {
  i: "Tab",
  m: "Enter",
  "[": "Esc",
  "?": "Backspace",
  "@": "Ctrl+Space",
};

/** Why a terminal never tells a program of it. */
function unreachable({ modifiers, key }: Parts): string | undefined {
  const has = (modifier: string) => modifiers.has(modifier);
  if (NAMED.test(key)) return unreachableNamed(modifiers, key);
  if (has("shift") && (has("ctrl") || !isLetter(key)))
    return has("ctrl") ? NEVER : "is written as the character that it types, such as !";
  if (has("ctrl")) {
    const same = SAME[key.toLowerCase()];
    if (same !== undefined) return `is ${same} to a terminal`;
    return /^[a-z\\\]^_]$/i.test(key) ? undefined : NEVER;
  }
  const begins = `${has("shift") ? key.toUpperCase() : key.toLowerCase()}`;
  return has("alt") && /^[[\]OPX^_]$/.test(begins)
    ? "is how terminals begin to tell of other keys"
    : undefined;
}

function unreachableNamed(modifiers: ReadonlySet<string>, key: string): string | undefined {
  if (key === "tab") return modifiers.has("ctrl") || modifiers.has("alt") ? NEVER : undefined;
  const isTyped = ["space", "enter", "escape", "backspace"].includes(key);
  if (!isTyped || modifiers.size === 0) return undefined;
  if (modifiers.has("shift") || (modifiers.has("ctrl") && key !== "space")) return UNSURE;
  return key === "escape" ? UNSURE : undefined;
}

function isLetter(key: string): boolean {
  return /^\p{L}$/u.test(key) && [...key.toUpperCase()].length === 1;
}

/** The key may be `+` or `-` itself. */
function parts(chord: string): Parts {
  const [, before = "", key = chord] = /^((?:[^+-]+[+-])*)(.[^+-]*)$/su.exec(chord) ?? [];
  return { modifiers: new Set(before.split(/[+-]/).filter(Boolean)), key };
}
