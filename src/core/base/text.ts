/** The result of parsing user input: the value, or a message for the user that says what is wrong. */
export type ParseResult<T> = { value: T } | { fault: string };

// Complete escape sequences. Strings (OSC, DCS, APC, PM, SOS) come before the shorter forms. No class can match past an
// introducer, so that hostile input takes linear time.
const STRING_SEQUENCES = /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)/g;
const ESCAPE_SEQUENCES = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]/g;
const BREAKS = /[\t\n\v\f\r\x85\u2028\u2029]+/g;
const CONTROLS = /[\x00-\x1f\x7f-\x9f]/g;
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
// Patterns with Unicode properties are written inline: compiling them at start would cost every run most of a
// millisecond.

/**
 * Cleans other people's text (names, labels, hosts, notes read from etcd) for one line of a terminal.
 *
 * Removes escape sequences as a whole. Tabs and line breaks become one space. Bidi controls, which change the order of
 * what is displayed, are shown as `\u{202e}`. Removes other C0 and C1 controls, invisible characters and piled-up
 * accents. Lone surrogates become U+FFFD. Idempotent; never throws.
 * @param longest  maximum number of characters of the result, at least 1; a longer text is cut and ends in `…`
 */
export function clean(text: string, longest = Number.POSITIVE_INFINITY): string {
  return truncateText(removeUnseen(text, escapeBidiControl), longest);
}

/** Cleans a text of several lines, each as `clean` does. */
export function cleanLines(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => clean(line))
    .join("\n");
}

/** Cleans typed or pasted text, as `clean` does. Bidi controls are removed: an escape would be text that was not typed. */
export function cleanInput(text: string): string {
  return removeUnseen(text, () => "");
}

function removeUnseen(text: string, replaceBidiControl: (control: string) => string): string {
  if (/^[ -~]*$/.test(text)) return text;
  return (
    text
      .toWellFormed()
      .replace(STRING_SEQUENCES, "")
      .replace(ESCAPE_SEQUENCES, "")
      .replace(BREAKS, " ")
      .replace(CONTROLS, "")
      .replace(BIDI_CONTROLS, replaceBidiControl)
      // Default-ignorable characters of Unicode (zero-width characters, fillers, variation selectors, tags) and
      // interlinear annotation. They are invisible, or change how the rest is displayed.
      .replace(/[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu, "")
      .replace(/(\p{M}{4})\p{M}+/gu, "$1") // piled-up marks
  );
}

function escapeBidiControl(control: string): string {
  return `\\u{${control.charCodeAt(0).toString(16).padStart(4, "0")}}`;
}

function truncateText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const letters = Array.from(text.slice(0, longest * 2 + 1)); // a letter has one or two code units
  return letters.length <= longest ? text : `${letters.slice(0, longest - 1).join("")}…`;
}

/** Removes all SGR sequences from a text: colours, weight, underlines. */
export function stripStyles(text: string): string {
  return text.includes("\x1b") ? text.replaceAll(/\x1b\[[0-9;:]*m/g, "") : text;
}

/**
 * Quotes a text for an error message so that it is unambiguous: JSON quotes, invisible characters as `\uXXXX`, at most
 * `longest` characters.
 */
export function quoteText(text: string, longest = 60): string {
  const short = text.length > longest ? `${text.slice(0, longest - 3)}...` : text;
  return JSON.stringify(short).replace(
    /[\x7f-\x9f\u2028\u2029\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu,
    escapeCodeUnits,
  );
}

/** Quotes a value of JSON for an error message. */
export function quoteValue(value: unknown): string {
  return quoteText(typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing"));
}

/** Escapes a character for JSON, as one or two `\\uXXXX`. */
export function escapeCodeUnits(char: string): string {
  const units = char.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\u${unit}`).join("");
}

/**
 * Finds the known word that was probably meant.
 * @returns the only word that continues it after a dot, as the full name of a host; else the nearest word, if its edit
 * distance is within a third of its length; otherwise undefined
 */
export function findNearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > 64) return undefined;
  const candidates = [...known];
  const longer = candidates.filter((candidate) => candidate.startsWith(`${word}.`));
  if (longer.length === 1) return longer[0];
  let best: { word: string; edits: number } | undefined;
  for (const candidate of candidates) {
    const most = Math.max(1, Math.floor(candidate.replace(/^--/, "").length / 3));
    if (Math.abs(candidate.length - word.length) > most) continue; // as many edits at least
    const edits = countEdits(word.toLowerCase(), candidate.toLowerCase());
    if (edits <= most && edits < (best?.edits ?? Number.POSITIVE_INFINITY)) best = { word: candidate, edits };
  }
  return best?.word;
}

/** Collects the texts that apply: `condition && text` is left out if the condition is not met. */
export function collectTexts(texts: readonly (string | false | undefined)[]): string[] {
  return texts.filter((text) => typeof text === "string");
}

/** Formats a suggestion for the end of a message: `; did you mean "web1"?`. Empty if no known word is near. */
export function suggestNearest(word: string, known: Iterable<string>): string {
  const meant = findNearest(word, known);
  return meant === undefined ? "" : `; did you mean ${quoteText(meant)}?`;
}

/**
 * Computes the edit distance: letters added, removed, replaced, or swapped with their neighbour (optimal string
 * alignment).
 */
function countEdits(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      line.push(Math.min(replaced, (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1, swapped));
    }
    before = above;
    above = line;
  }
  return above[b.length] ?? 0;
}

/** Maximum length of the name of a lock, resource, group or host, in UTF-8 bytes. */
export const MAX_NAME_BYTES = 512;

/**
 * Checks the name of a lock, resource, group or host. Returns what is wrong, or undefined if the name is valid. Never
 * repeats the name: it may be 10 kB long or contain escape sequences.
 */
export function findNameFault(name: string): string | undefined {
  if (typeof name !== "string") return "it is not a text";
  if (name === "") return "it is empty";
  if (/[\x00-\x1f\x7f-\x9f]/.test(name)) return "it contains a control character";
  if (!name.isWellFormed()) return "it is not valid Unicode";
  const bytes = /^[ -~]*$/.test(name) ? name.length : new TextEncoder().encode(name).length;
  if (bytes > MAX_NAME_BYTES) return `it has ${bytes} bytes; at most ${MAX_NAME_BYTES} are allowed`;
  return undefined;
}

/** Normalizes a host name for comparison: DNS names are case-insensitive, and a trailing dot has no meaning. */
export function canonicalizeHost(host: string): string {
  const name = host.toLowerCase();
  return name.length > 1 && name.endsWith(".") ? name.slice(0, -1) : name;
}

/** Macros that every host has. A host's own macros cannot use these names. */
export const BUILT_IN_MACROS = ["FQDN", "HOST", "CPU", "MEMMB"] as const;

/**
 * Checks one of a host's own macros. Returns what is wrong, or undefined. A number can be used in numbers and names, a
 * text only in names.
 */
export function findMacroFault(name: string, value: unknown): string | undefined {
  if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(name)) {
    return `${quoteText(name)} is not a macro name: use capital letters, digits and _, begin with a letter, 64 characters at most`;
  }
  if ((BUILT_IN_MACROS as readonly string[]).includes(name))
    return `${name} is built in and cannot be given another value`;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${name} is not a finite number`;
  if (typeof value !== "string") return `${name} is neither a number nor a string`;
  const fault = findNameFault(value);
  return fault === undefined ? undefined : `${name} cannot be part of a name: ${fault}`;
}

/** Formats the first texts of a list, and the number of the others: `web1, web2 and 3 more`. */
export function formatShortList(texts: readonly string[], most: number): string {
  const few = texts.slice(0, most).join(", ");
  return texts.length > most ? `${few} and ${texts.length - most} more` : few;
}

/** Formats a number with its noun: `1 line`, `2 lines`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
