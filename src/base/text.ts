/** What became of a text from outside: its meaning, or what is wrong with it, said for the person who wrote it. */
export type Parsed<T> = { value: T } | { fault: string };

// Escape sequences, as far as they are complete. Strings (OSC, DCS, APC, PM, SOS) come before the shorter forms; none of
// the classes can run over an introducer, so that hostile input costs linear time.
const STRINGS = /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)/g;
const SEQUENCES = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]/g;
const BREAKS = /[\t\n\v\f\r\x85\u2028\u2029]+/g;
const CONTROLS = /[\x00-\x1f\x7f-\x9f]/g;
// Patterns with Unicode properties stand where they are used: making them costs every start of a run most of a millisecond.

/**
 * Other people's text (names, labels, hosts, notes read from etcd), made fit for one line of a terminal.
 *
 * Escape sequences go as a whole; tabs and line breaks become one space; other C0 and C1 controls, bidi controls,
 * invisible characters and piled-up accents go; lone surrogates become U+FFFD. Idempotent, and never throws.
 * @param columns  widest result, in terminal columns; a longer one ends in `…`
 */
export function clean(text: string, columns = Number.POSITIVE_INFINITY): string {
  if (/^[ -~]*$/.test(text)) return shortened(text, columns);
  const shown = text
    .toWellFormed()
    .replace(STRINGS, "")
    .replace(SEQUENCES, "")
    .replace(BREAKS, " ")
    .replace(CONTROLS, "")
    // What Unicode calls default-ignorable: bidi controls, zero-width characters, fillers, variation selectors, tags; and
    // interlinear annotation. Unseen, or changing how the rest is seen.
    .replace(/[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu, "")
    .replace(/(\p{M}{4})\p{M}+/gu, "$1"); // piled-up marks
  return shortened(shown, columns);
}

function shortened(text: string, columns: number): string {
  if (text.length * 2 <= columns || displayWidth(text) <= columns) return text;
  let width = 1; // of the ellipsis
  let kept = "";
  for (const char of text) {
    width += displayWidth(char);
    if (width > columns) break;
    kept += char;
  }
  return columns < 1 ? "" : `${kept}…`;
}

/** Columns that a clean text takes in a terminal: 2 for East Asian wide characters and emoji, 0 for accents. */
export function displayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  const wide =
    /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
  let width = 0;
  for (const char of text) width += /^\p{M}$/u.test(char) ? 0 : wide.test(char) ? 2 : 1;
  return width;
}

/**
 * A text for an error message, where it must be told apart from others: JSON quotes, everything that is not seen as
 * `\uXXXX`, at most `longest` characters of it.
 */
export function quoted(text: string, longest = 60): string {
  const short = text.length > longest ? `${text.slice(0, longest - 3)}...` : text;
  return JSON.stringify(short).replace(
    /[\x7f-\x9f\u2028\u2029\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu,
    (char) => Array.from({ length: char.length }, (_, i) => unit(char, i)).join(""),
  );
}

function unit(char: string, index: number): string {
  return `\\u${char.charCodeAt(index).toString(16).padStart(4, "0")}`;
}

/**
 * Which of some known words was probably meant.
 * @returns the nearest one within a third of its length in edits, or undefined
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > 64) return undefined;
  let best: { word: string; edits: number } | undefined;
  for (const candidate of known) {
    const edits = editsBetween(word.toLowerCase(), candidate.toLowerCase());
    if (
      edits <= Math.max(1, Math.floor(candidate.length / 3)) &&
      edits < (best?.edits ?? Number.POSITIVE_INFINITY)
    ) {
      best = { word: candidate, edits };
    }
  }
  return best?.word;
}

/** Levenshtein distance, one row at a time. */
function editsBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      line.push(Math.min(replaced, (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1));
    }
    above = line;
  }
  return above[b.length] ?? 0;
}

/** Longest name of a lock, resource, group or host, in UTF-8 bytes. */
export const MAX_NAME_BYTES = 512;

/**
 * What is wrong with a name of a lock, resource, group or host, or undefined when it may be used. Never repeats the
 * name: it may be 10 kB long or hold escape sequences.
 */
export function nameFault(name: string): string | undefined {
  if (name === "") return "it is empty";
  if (/[\x00-\x1f\x7f-\x9f]/.test(name)) return "it holds a control character";
  if (!name.isWellFormed()) return "it is not valid Unicode";
  const bytes = /^[ -~]*$/.test(name) ? name.length : new TextEncoder().encode(name).length;
  if (bytes > MAX_NAME_BYTES) return `it has ${bytes} bytes, ${MAX_NAME_BYTES} are allowed`;
  return undefined;
}

/** Macros that every host has; a host's own cannot take their names. */
export const BUILT_IN_MACROS = ["FQDN", "HOST", "CPU", "MEMMB"] as const;

/** What is wrong with a macro of a host's own, or undefined. A number can stand in numbers and names, a text in names. */
export function macroFault(name: string, value: unknown): string | undefined {
  if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(name)) {
    return `${quoted(name)} cannot be a macro's name: capital letters, digits and _ only, a letter first, 64 at most`;
  }
  if ((BUILT_IN_MACROS as readonly string[]).includes(name))
    return `${name} is built in and cannot be given another value`;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${name} is not a finite number`;
  if (typeof value !== "string") return `${name} is neither a number nor a text`;
  const fault = nameFault(value);
  return fault === undefined ? undefined : `${name} cannot be part of a name: ${fault}`;
}
