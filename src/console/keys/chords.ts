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
  ...{ ins: "insert", "↑": "up", "↓": "down", "←": "left", "→": "right", control: "ctrl", meta: "alt" },
};
const NAMED =
  /^(?:f(?:1\d|20|[1-9])|pageup|pagedown|escape|enter|tab|space|up|down|left|right|home|end|insert|delete|backspace)$/;
const MODIFIERS = ["ctrl", "alt", "shift"] as const;

/** A chord for people: `Ctrl+P`, `PgUp`, `G`. */
export function chordText(chord: string): string {
  const { modifiers, key } = parts(chord);
  const name = SHOWN[key] ?? (NAMED.test(key) || modifiers.length > 0 ? key.toUpperCase() : key);
  return [...modifiers.map((one) => SHOWN[one] ?? one), name].join("+");
}

/** A chord as people write it, in whatever case and order: `Ctrl+P`, `pgdn`, `Shift-Tab`. */
export function parseChord(text: string): Parsed<string> {
  const { modifiers, key } = parts(text.trim());
  const known = modifiers.map((one) => MEANT[one.toLowerCase()] ?? one.toLowerCase());
  const name = MEANT[key.toLowerCase()] ?? (NAMED.test(key.toLowerCase()) ? key.toLowerCase() : key);
  const isNamed = NAMED.test(name);
  if (!isNamed && [...name].length !== 1)
    return { fault: `${quoted(text)} is not a key; write it as x, G, Ctrl+P, F5 or PgDn` };
  const strange = known.find((one) => !MODIFIERS.some((modifier) => modifier === one));
  if (strange !== undefined)
    return { fault: `${quoted(text)}: ${quoted(strange)} is none of Ctrl, Alt and Shift` };
  const fault = unreachable(new Set(known), name, isNamed);
  if (fault !== undefined) return { fault: `${quoted(text)} ${fault}` };
  const isLower = known.includes("ctrl") && !isNamed;
  return {
    value: [...MODIFIERS.filter((one) => known.includes(one)), isLower ? name.toLowerCase() : name].join("+"),
  };
}

/** Why a terminal never tells a program of it. */
function unreachable(modifiers: ReadonlySet<string>, key: string, isNamed: boolean): string | undefined {
  const never = "does not reach programs in a terminal";
  if (!modifiers.has("ctrl"))
    return modifiers.has("shift") && !isNamed
      ? `is written as the character it types: ${key.toUpperCase()}`
      : undefined;
  if (key === "tab") return never;
  if (isNamed) return undefined;
  if (modifiers.has("shift")) return never;
  if (/^\d$/.test(key)) return never;
  const same = { i: "Tab", m: "Enter", "[": "Esc" }[key.toLowerCase()];
  return same === undefined ? undefined : `is ${same} to a terminal`;
}

/** The key may be `+` or `-` itself. */
function parts(chord: string): { modifiers: string[]; key: string } {
  const match = /^((?:[^+-]+[+-])*)(.[^+-]*)$/su.exec(chord);
  const [, before = "", key = chord] = match ?? [];
  return { modifiers: before.split(/[+-]/).filter(Boolean), key };
}
