import { findNearest, type ParseResult, quoteText } from "../../base/text.ts";
import type { KeyAction } from "./key-actions.ts";

/** Maps keys to actions. */
export interface Keymap {
  /** @param context  `list` if a list is under the cursor; global keys then work too */
  findAction(chord: string, context: KeyAction["context"]): string | undefined;
  /** The keys of an action, as displayed; empty if it has none. */
  getKeyLabels(id: string): readonly string[];
}

/** Keys by action, as in the configuration file: one, several, or none. */
export type KeyBindings = Readonly<Record<string, string | readonly string[]>>;

/** Always quits, so that the user can always leave. */
const ALWAYS = "ctrl+c";

/** The parsed configuration: its findings and the actions it binds. */
interface ParsedBindings {
  findings: string[];
  /** Configured chords by action. */
  wanted: ReadonlyMap<string, readonly string[]>;
}

/**
 * Builds the keymap from the default keys and the user's bindings.
 * @returns the keymap, and one sentence for each invalid or conflicting binding; the other bindings still apply
 */
export function createKeymap(
  actions: readonly KeyAction[],
  bindings: KeyBindings,
): { keymap: Keymap; findings: string[] } {
  const parsed = parseBindings(actions, bindings);
  const bound = new Map<string, string>();
  const isWanted = ({ id }: KeyAction) => parsed.wanted.has(id);
  for (const action of actions.filter(isWanted)) bind(bound, action, parsed);
  for (const action of actions.filter((one) => !isWanted(one))) bind(bound, action, parsed);
  return { keymap: buildKeymap(actions, bound), findings: parsed.findings };
}

function parseBindings(actions: readonly KeyAction[], bindings: KeyBindings): ParsedBindings {
  const findings: string[] = [];
  const wanted = new Map<string, readonly string[]>();
  for (const [id, keys] of Object.entries(bindings)) {
    const action = actions.find((one) => one.id === id);
    if (action === undefined) {
      findings.push(formatUnknownAction(id, actions));
      continue;
    }
    const texts = typeof keys === "string" ? [keys] : keys;
    const chords = texts.flatMap((text) => parseActionChord(action, text, findings));
    // An empty list removes all keys of the action. A list with only invalid keys must not do so by mistake.
    if (chords.length > 0 || texts.length === 0) wanted.set(id, chords);
  }
  return { findings, wanted };
}

function buildKeymap(actions: readonly KeyAction[], bound: ReadonlyMap<string, string>): Keymap {
  const contexts = new Map(actions.map(({ id, context }) => [id, context]));
  const shown = Map.groupBy([...bound], ([, id]) => id);
  return {
    findAction(chord, context) {
      const id = chord === ALWAYS ? "quit" : bound.get(chord);
      return id !== undefined && context === "global" && contexts.get(id) === "list" ? undefined : id;
    },
    getKeyLabels(id) {
      const chords = (shown.get(id) ?? []).map(([chord]) => chord);
      return (id === "quit" && chords.length === 0 ? [ALWAYS] : chords).map(formatChord);
    },
  };
}

function parseActionChord(action: KeyAction, text: string, findings: string[]): string[] {
  const parsed = parseChord(text);
  const fault = "fault" in parsed ? parsed.fault : findRefusal(action, parsed.value);
  if (fault !== undefined) findings.push(`keyBindings: ${action.id}: ${fault}`);
  return "value" in parsed && fault === undefined ? [parsed.value] : [];
}

function findRefusal({ isChange }: KeyAction, chord: string): string | undefined {
  if (chord === ALWAYS) return "Ctrl+C always quits";
  if (!isChange || !/^ctrl\+/.test(chord)) return undefined;
  return `${formatChord(chord)} is refused: actions that change something cannot be on a key with Ctrl, since these are easily hit by mistake`;
}

/** Binds the keys of an action. The user's bindings come first; an action that loses a key is reported. */
function bind(
  bound: Map<string, string>,
  { id, keys }: KeyAction,
  { findings, wanted }: ParsedBindings,
): void {
  for (const chord of wanted.get(id) ?? keys) {
    const other = bound.get(chord);
    if (other === undefined) bound.set(chord, id);
    else if (other !== id) {
      const whose = wanted.has(id)
        ? `${other} and ${id} are both bound to this key; it runs ${other}`
        : `this key runs ${other} now, no longer ${id}`;
      findings.push(`keyBindings: ${formatChord(chord)}: ${whose}`);
    }
  }
}

function formatUnknownAction(id: string, actions: readonly KeyAction[]): string {
  const ids = actions.map((action) => action.id);
  const meant = findNearest(id, ids);
  const remedy = meant === undefined ? `use one of ${ids.join(", ")}` : `did you mean ${quoteText(meant)}?`;
  return `keyBindings: unknown action ${quoteText(id)}; ${remedy}`;
}

/** Displayed names of keys, by their internal names. */
const SHOWN: Readonly<Record<string, string>> = {
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
const MEANT: Readonly<Record<string, string>> = {
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
const NAMED =
  /^(?:f(?:1\d|20|[1-9])|pageup|pagedown|escape|enter|tab|space|up|down|left|right|home|end|insert|delete|backspace)$/;
const MODIFIERS = ["ctrl", "alt", "shift"] as const;

/** A chord in its parts. */
interface ChordParts {
  modifiers: ReadonlySet<string>;
  key: string;
}

/** Formats a chord for display: `Ctrl+P`, `PgUp`, `G`, `Alt+Shift+G`. */
export function formatChord(chord: string): string {
  const { modifiers, key } = splitChord(chord);
  const isCapital = modifiers.has("alt") && isLetter(key) && key !== key.toLowerCase();
  const all = isCapital ? new Set([...modifiers, "shift"]) : modifiers;
  const isUpper = modifiers.size > 0 || NAMED.test(key);
  const name = SHOWN[key] ?? (isUpper ? key.toUpperCase() : key);
  return [...MODIFIERS.filter((one) => all.has(one)).map((one) => SHOWN[one] ?? one), name].join("+");
}

/**
 * Parses a chord as users write it, in any case and order: `Ctrl+P`, `pgdn`, `Shift-Tab`. A single letter is
 * case-sensitive: `g` is not `G`.
 * @returns the chord in the form of `KeyEvent`, or why it is not valid
 */
export function parseChord(text: string): ParseResult<string> {
  const { modifiers, key } = splitChord(text === " " ? text : text.trim());
  const chord = {
    modifiers: new Set([...modifiers].map((one) => findKeyName(one) ?? one)),
    key: findKeyName(key) ?? key,
  };
  const fault = findSyntaxFault(chord) ?? findTerminalFault(chord);
  return fault === undefined ? { value: joinChord(chord) } : { fault: `${quoteText(text)} ${fault}` };
}

function findKeyName(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(MEANT, lower)) return MEANT[lower];
  return NAMED.test(lower) || MODIFIERS.some((one) => one === lower) ? lower : undefined;
}

/** Joins a chord. With Ctrl or Alt, letters are lower case; Shift with a letter becomes the capital letter. */
function joinChord({ modifiers, key }: ChordParts): string {
  if (!isLetter(key)) return [...MODIFIERS.filter((one) => modifiers.has(one)), key].join("+");
  const isSmall = modifiers.size > 0 && !modifiers.has("shift");
  const letter = isSmall ? key.toLowerCase() : modifiers.has("shift") ? key.toUpperCase() : key;
  return [...MODIFIERS.filter((one) => one !== "shift" && modifiers.has(one)), letter].join("+");
}

function findSyntaxFault({ modifiers, key }: ChordParts): string | undefined {
  const strange = [...modifiers].find((one) => !MODIFIERS.some((modifier) => modifier === one));
  if (strange !== undefined) return `begins with ${quoteText(strange)}; it must be one of Ctrl, Alt, Shift`;
  if (NAMED.test(key) || /^[^\p{C}\p{Z}]$/u.test(key)) return undefined;
  return "is not a key; write it as x, G, Ctrl+P, F5, PgDn, Space or Shift+Tab";
}

const NEVER = "is not sent to programs by terminals";
const UNSURE = "is the same as the key alone in most terminals";
/** Keys that Ctrl turns into another key. */
const SAME: Readonly<Record<string, string>> = {
  i: "Tab",
  m: "Enter",
  "[": "Esc",
  "?": "Backspace",
  "@": "Ctrl+Space",
};

/** Returns why a terminal does not send a chord to programs. */
function findTerminalFault({ modifiers, key }: ChordParts): string | undefined {
  const hasModifier = (modifier: string) => modifiers.has(modifier);
  if (NAMED.test(key)) return findNamedKeyFault(modifiers, key);
  if (hasModifier("shift") && (hasModifier("ctrl") || !isLetter(key)))
    return hasModifier("ctrl") ? NEVER : "must be written as the character that it types, such as !";
  if (hasModifier("ctrl")) {
    const same = SAME[key.toLowerCase()];
    if (same !== undefined) return `is ${same} to a terminal`;
    return /^[a-z\\\]^_]$/i.test(key) ? undefined : NEVER;
  }
  const begins = `${hasModifier("shift") ? key.toUpperCase() : key.toLowerCase()}`;
  return hasModifier("alt") && /^[[\]OPX^_]$/.test(begins)
    ? "begins the codes of other keys in a terminal"
    : undefined;
}

function findNamedKeyFault(modifiers: ReadonlySet<string>, key: string): string | undefined {
  if (key === "tab") return modifiers.has("ctrl") || modifiers.has("alt") ? NEVER : undefined;
  const isTyped = ["space", "enter", "escape", "backspace"].includes(key);
  if (!isTyped || modifiers.size === 0) return undefined;
  if (modifiers.has("shift") || (modifiers.has("ctrl") && key !== "space")) return UNSURE;
  return key === "escape" ? UNSURE : undefined;
}

function isLetter(key: string): boolean {
  return /^\p{L}$/u.test(key) && [...key.toUpperCase()].length === 1;
}

/** Splits a chord. The key itself may be `+` or `-`. */
function splitChord(chord: string): ChordParts {
  const [, before = "", key = chord] = /^((?:[^+-]+[+-])*)(.[^+-]*)$/su.exec(chord) ?? [];
  return { modifiers: new Set(before.split(/[+-]/).filter(Boolean)), key };
}
