/** The position of the first JSON error (line and column, both from 1) and what is wrong there. */
export interface JsonFault {
  line: number;
  column: number;
  what: string;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR =
  /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\u0000-\u001f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The tokens that are allowed next. */
type ExpectedToken = "value" | "value or ]" | "key" | "key or }" | ":" | "," | "end";

const WORDS: Record<ExpectedToken, string> = {
  value: "a value",
  "value or ]": 'a value or "]"',
  key: "a quoted key",
  "key or }": 'a quoted key or "}"',
  ":": '":"',
  ",": '"," or a closing bracket',
  end: "the end",
};

/**
 * Finds the first position at which a text is not JSON.
 *
 * Use it after `JSON.parse` failed. The message of `JSON.parse` often has no position, and it quotes the source, which
 * may contain a password. This function repeats at most the one character that is wrong.
 * @returns undefined if the text is JSON
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: ("{" | "[")[] = [];
  let wanted: ExpectedToken = "value";
  let at = 0;
  for (;;) {
    at = findMatchEnd(SPACE, text, at) ?? at;
    const char = text[at];
    if (char === undefined)
      return wanted === "end"
        ? undefined
        : buildFault(text, at, `expected ${WORDS[wanted]}, but the text ends`);
    const step = advanceToken(wanted, char, text, at, open);
    if (step === undefined) return buildFault(text, at, describeUnexpected(wanted, char));
    [wanted, at] = step;
  }
}

/**
 * Advances by one token and updates `open`, the brackets that are open at this position.
 * @returns undefined if the token is not allowed here
 */
function advanceToken(
  wanted: ExpectedToken,
  char: string,
  text: string,
  at: number,
  open: ("{" | "[")[],
): [ExpectedToken, number] | undefined {
  const closes =
    (char === "}" && (wanted === "key or }" || (wanted === "," && open.at(-1) === "{"))) ||
    (char === "]" && (wanted === "value or ]" || (wanted === "," && open.at(-1) === "[")));
  if (closes) {
    open.pop();
    return [open.length === 0 ? "end" : ",", at + 1];
  }
  if (wanted === "," && char === ",") return [open.at(-1) === "{" ? "key" : "value", at + 1];
  if (wanted === ":" && char === ":") return ["value", at + 1];
  if (wanted === "key" || wanted === "key or }") return char === '"' ? skipScalar(":", text, at) : undefined;
  if (wanted !== "value" && wanted !== "value or ]") return undefined;
  if (char === "{" || char === "[") {
    open.push(char);
    return [char === "{" ? "key or }" : "value or ]", at + 1];
  }
  return skipScalar(open.length === 0 ? "end" : ",", text, at);
}

function skipScalar(then: ExpectedToken, text: string, at: number): [ExpectedToken, number] | undefined {
  const end = findMatchEnd(SCALAR, text, at);
  return end === undefined ? undefined : [then, end];
}

function findMatchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function describeUnexpected(wanted: ExpectedToken, char: string): string {
  const startsText = char === '"' && ![",", ":", "end"].includes(wanted);
  if (startsText) return "a string is not closed, or contains a line break or an invalid escape";
  const seen = /[!-~]/.test(char) ? `"${char}"` : "an invalid character";
  return `expected ${WORDS[wanted]}, got ${seen}`;
}

function buildFault(text: string, at: number, what: string): JsonFault {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n"), what };
}
