import type { ParseError } from "jsonc-parser";

/** The position of the first JSON error (line and column, both from 1) and what is wrong there. */
export interface JsonFault {
  line: number;
  column: number;
  what: string;
}

/** The package jsonc-parser. It is passed in because `run` loads it only for a faulty configuration file. */
export type JsonParser = typeof import("jsonc-parser");

/** Maximum nesting depth of brackets. */
const MAX_DEPTH = 100;

/** The syntax that the parser expected, by the name of its error. */
const EXPECTED_SYNTAX: Readonly<Record<string, string>> = {
  ValueExpected: "a value",
  PropertyNameExpected: "a quoted key",
  ColonExpected: '":"',
  CommaExpected: '"," or a closing bracket',
  CloseBracketExpected: '"," or a closing bracket',
  CloseBraceExpected: 'a quoted key, "," or a closing bracket',
  EndOfFileExpected: "the end",
};

const BAD_STRING = "a string is not closed, or contains a line break or an invalid escape";

/** Errors within a token, by name. */
const BAD_TOKENS: Readonly<Record<string, string>> = {
  InvalidCommentToken: "JSON cannot contain comments",
  InvalidNumberFormat: "a number is not complete",
  UnexpectedEndOfNumber: "a number is not complete",
  UnexpectedEndOfString: BAD_STRING,
  InvalidUnicode: BAD_STRING,
  InvalidEscapeCharacter: BAD_STRING,
  InvalidCharacter: BAD_STRING,
};

/**
 * Finds the first position at which a text is not JSON, or is nested too deeply.
 *
 * Use it after `JSON.parse` failed. The message of `JSON.parse` often has no position, and it quotes the source, which
 * may contain a password. This function repeats at most the one character that is wrong.
 * @returns undefined if the text is JSON
 */
export function findJsonFault(text: string, parser: JsonParser): JsonFault | undefined {
  const deep = findDeepBracket(text, parser);
  if (deep !== undefined)
    return { ...computeLineColumn(text, deep), what: `nested more than ${MAX_DEPTH} levels deep` };
  const errors: ParseError[] = [];
  parser.parse(text, errors, { disallowComments: true });
  const [first] = errors;
  if (first === undefined) return undefined;
  const what = describeError(parser.printParseErrorCode(first.error), text[first.offset]);
  return { ...computeLineColumn(text, first.offset), what };
}

/** Returns the line and column of a character offset, both from 1. */
export function computeLineColumn(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}

/** Finds the bracket that exceeds the maximum depth. The parser is recursive, so it must not parse such a text. */
function findDeepBracket(text: string, { createScanner }: JsonParser): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const first = text.charAt(scanner.getTokenOffset());
    if (first === "{" || first === "[") depth += 1;
    if (first === "}" || first === "]") depth -= 1;
    if (depth > MAX_DEPTH) return scanner.getTokenOffset();
  }
  return undefined;
}

function describeError(name: string, char: string | undefined): string {
  const badToken = BAD_TOKENS[name];
  if (badToken !== undefined) return badToken;
  const seen = char !== undefined && /[!-~]/.test(char) ? `"${char}"` : "an invalid character";
  const expected = EXPECTED_SYNTAX[name];
  if (expected === undefined) return `${seen} is not allowed here; keys and texts need double quotes`;
  return `expected ${expected}, ${char === undefined ? "but the text ends" : `got ${seen}`}`;
}
