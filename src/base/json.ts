/** Where a text stops being JSON: line and column, both from 1, and what is wrong there. */
export interface JsonFault {
  line: number;
  column: number;
  what: string;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR =
  /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\u0000-\u001f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** What may come next. */
type Wanted = "value" | "value or ]" | "key" | "key or }" | ":" | "," | "end";

const WORDS: Record<Wanted, string> = {
  value: "a value",
  "value or ]": 'a value or "]"',
  key: "a quoted key",
  "key or }": 'a quoted key or "}"',
  ":": '":"',
  ",": '"," or a closing bracket',
  end: "the end",
};

/**
 * The first place at which a text is not JSON.
 *
 * For after `JSON.parse` failed: its message has no position in half of the cases, and quotes the source, which may
 * hold a password. This one never repeats more than the one character that is wrong.
 * @returns undefined when the text is JSON
 */
export function jsonFault(text: string): JsonFault | undefined {
  const open: ("{" | "[")[] = [];
  let wanted: Wanted = "value";
  let at = 0;
  for (;;) {
    at = after(SPACE, text, at) ?? at;
    const char = text[at];
    if (char === undefined)
      return wanted === "end"
        ? undefined
        : faultAt(text, at, `the text ends where ${WORDS[wanted]} is wanted`);
    const step = next(wanted, char, text, at, open);
    if (step === undefined) return faultAt(text, at, unexpected(wanted, char));
    [wanted, at] = step;
  }
}

/** One token further; keeps `open`, the brackets around the place. Undefined when the token cannot stand here. */
function next(
  wanted: Wanted,
  char: string,
  text: string,
  at: number,
  open: ("{" | "[")[],
): [Wanted, number] | undefined {
  const closes =
    (char === "}" && (wanted === "key or }" || (wanted === "," && open.at(-1) === "{"))) ||
    (char === "]" && (wanted === "value or ]" || (wanted === "," && open.at(-1) === "[")));
  if (closes) {
    open.pop();
    return [open.length === 0 ? "end" : ",", at + 1];
  }
  if (wanted === "," && char === ",") return [open.at(-1) === "{" ? "key" : "value", at + 1];
  if (wanted === ":" && char === ":") return ["value", at + 1];
  if (wanted === "key" || wanted === "key or }") return char === '"' ? scalar(":", text, at) : undefined;
  if (wanted !== "value" && wanted !== "value or ]") return undefined;
  if (char === "{" || char === "[") {
    open.push(char);
    return [char === "{" ? "key or }" : "value or ]", at + 1];
  }
  return scalar(open.length === 0 ? "end" : ",", text, at);
}

function scalar(then: Wanted, text: string, at: number): [Wanted, number] | undefined {
  const end = after(SCALAR, text, at);
  return end === undefined ? undefined : [then, end];
}

function after(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function unexpected(wanted: Wanted, char: string): string {
  const startsText = char === '"' && ![",", ":", "end"].includes(wanted);
  if (startsText) return "a string is not closed, or holds a line break or a bad escape";
  const seen = /[!-~]/.test(char) ? `"${char}"` : "a character that cannot be";
  return `${seen} stands where ${WORDS[wanted]} is wanted`;
}

function faultAt(text: string, at: number, what: string): JsonFault {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n"), what };
}
