import { type ParseResult, quoteText } from "../base/text.ts";

/**
 * Looks up a name in an expression. Returns a number, or a text, which cannot be used in arithmetic; undefined if the
 * name is unknown.
 */
export type MacroLookup = (name: string) => number | string | undefined;

/** Longer expressions are refused without parsing. */
const MAX_LENGTH = 500;
/** Maximum nesting depth of brackets, functions and signs. */
const MAX_DEPTH = 50;

/**
 * Evaluates an expression of numbers and macros: `+ - * / % ( )`, and int, floor, ceil, round, min, max.
 *
 * Uses its own parser, never `eval`. `int` truncates towards zero, `round` rounds halves away from zero, `%` has the
 * sign of its left side. Every step must produce a finite number no larger than 2^53 − 1, because larger unit counts
 * would be inexact.
 * @param lookup  called for a macro only if the expression names it
 * @returns a finite number; or an error message with the expression and the position in it, from 1
 */
export function evaluateExpression(text: string, lookup: MacroLookup): ParseResult<number> {
  return parseText(text, lookup, (parser) => parser.parseExpression());
}

/**
 * Evaluates a comparison of two such expressions: `load < 0.7 * CPU`. The operators are `< <= > >= == !=`.
 * @returns whether it is true; or an error message, as `evaluateExpression`
 */
export function evaluateComparison(text: string, lookup: MacroLookup): ParseResult<boolean> {
  return parseText(text, lookup, (parser) => parser.parseComparison());
}

function parseText<T>(
  text: string,
  lookup: MacroLookup,
  parse: (parser: ReturnType<typeof createParser>) => T,
): ParseResult<T> {
  if (text.length > MAX_LENGTH) {
    return {
      fault: `${quoteText(text)} is too long: ${text.length} characters, at most ${MAX_LENGTH} are allowed`,
    };
  }
  try {
    return { value: parse(createParser(text, lookup)) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { fault: `${quoteText(text)}: ${error.message}, at character ${error.at + 1}` };
  }
}

/**
 * Evaluates an expression that counts units of a resource.
 * @returns a whole number from 1 to 2^53 − 1; or an error message with the expression and its result
 */
export function evaluateUnits(text: string, lookup: MacroLookup): ParseResult<number> {
  const result = evaluateExpression(text, lookup);
  if ("fault" in result || (Number.isInteger(result.value) && result.value > 0)) return result;
  const { value } = result;
  if (Number.isInteger(value)) return { fault: `${quoteText(text)} is ${value}, it must be 1 or more` };
  return { fault: `${quoteText(text)} is ${value}, not a whole number; round it with int(...) or ceil(...)` };
}

/** Replaces the macros in an expression by their values: `int(MEMMB/1024)` becomes `int(24105/1024)`. */
export function substituteMacros(text: string, lookup: MacroLookup): string {
  return text.replace(/[A-Za-z_][A-Za-z0-9_]*/g, (name) =>
    FUNCTIONS.has(name) ? name : String(lookup(name) ?? name),
  );
}

class ExpressionError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const FUNCTIONS: ReadonlyMap<string, { arity: number; compute: (...values: number[]) => number }> = new Map([
  ["int", { arity: 1, compute: Math.trunc }],
  ["floor", { arity: 1, compute: Math.floor }],
  ["ceil", { arity: 1, compute: Math.ceil }],
  ["round", { arity: 1, compute: (value) => Math.sign(value) * Math.round(Math.abs(value)) }],
  ["min", { arity: Number.POSITIVE_INFINITY, compute: Math.min }],
  ["max", { arity: Number.POSITIVE_INFINITY, compute: Math.max }],
]);

const COMPARATORS: ReadonlyMap<string, (left: number, right: number) => boolean> = new Map([
  ["<", (left, right) => left < right],
  ["<=", (left, right) => left <= right],
  [">", (left, right) => left > right],
  [">=", (left, right) => left >= right],
  ["==", (left, right) => left === right],
  ["!=", (left, right) => left !== right],
]);

/** Creates a recursive descent parser. Its call depth is at most `MAX_DEPTH` levels of four calls. */
function createParser(text: string, lookup: MacroLookup) {
  let next = 0;
  let depth = 0;
  const tokens = tokenizeExpression(text);

  return { parseExpression, parseComparison };

  function parseExpression(): number {
    const value = parseSum();
    checkEnd();
    return value;
  }

  function parseComparison(): boolean {
    const left = parseSum();
    const { text, at } = take();
    const compare = COMPARATORS.get(text);
    if (compare === undefined)
      throw new ExpressionError(
        text === "" ? "a comparison is missing" : `expected a comparison, got ${quoteText(text)}`,
        at,
      );
    const right = parseSum();
    checkEnd();
    return compare(left, right);
  }

  function checkEnd(): void {
    const { text, at } = peek();
    if (text !== "") throw new ExpressionError(`unexpected ${quoteText(text)}`, at);
  }

  function parseSum(): number {
    let value = parseProduct();
    for (let token = accept("+", "-"); token !== undefined; token = accept("+", "-")) {
      const right = parseProduct();
      value = checkNumber(token.text === "+" ? value + right : value - right, token.at);
    }
    return value;
  }

  function parseProduct(): number {
    let value = parseSigned();
    for (let token = accept("*", "/", "%"); token !== undefined; token = accept("*", "/", "%")) {
      const right = parseSigned();
      if (token.text !== "*" && right === 0) throw new ExpressionError("division by zero", token.at);
      value = checkNumber(applyOperator(token.text, value, right), token.at);
    }
    return value;
  }

  function parseSigned(): number {
    const sign = accept("-");
    if (sign === undefined) return parseOperand();
    return parseNested(sign.at, () => 0 - parseSigned());
  }

  function parseOperand(): number {
    const { kind, text, at } = take();
    if (kind === "number") return checkNumber(Number(text), at);
    if (kind === "name") return parseNamed(text, at);
    if (text === "(") return parseNested(at, () => parseToBracket(() => parseSum()));
    if (text === "") throw new ExpressionError("a number is missing", at);
    throw new ExpressionError(`expected a number, got ${quoteText(text)}`, at);
  }

  function parseNamed(name: string, at: number): number {
    const called = FUNCTIONS.get(name);
    if (accept("(") !== undefined) {
      if (called === undefined) {
        throw new ExpressionError(
          `there is no function ${quoteText(name)}; the functions are ${[...FUNCTIONS.keys()].join(", ")}`,
          at,
        );
      }
      const values = parseNested(at, () => parseToBracket(() => parseArguments()));
      if (values.length <= called.arity) return checkNumber(called.compute(...values), at);
      throw new ExpressionError(`${name} takes one number, not ${values.length}`, at);
    }
    if (called !== undefined) throw new ExpressionError(`${name} needs numbers in brackets`, at);
    const value = lookup(name);
    if (value === undefined) throw new ExpressionError(`there is no macro ${quoteText(name)}`, at);
    if (typeof value === "string")
      throw new ExpressionError(`${name} is the text ${quoteText(value)}, not a number`, at);
    return checkNumber(value, at);
  }

  function parseArguments(): number[] {
    const values = [parseSum()];
    while (accept(",") !== undefined) values.push(parseSum());
    return values;
  }

  function parseToBracket<T>(inner: () => T): T {
    const value = inner();
    const { text, at } = take();
    if (text !== ")")
      throw new ExpressionError(text === "" ? '")" is missing' : `expected ")", got ${quoteText(text)}`, at);
    return value;
  }

  function parseNested<T>(at: number, inner: () => T): T {
    depth += 1;
    if (depth > MAX_DEPTH) throw new ExpressionError(`nested more than ${MAX_DEPTH} levels deep`, at);
    const value = inner();
    depth -= 1;
    return value;
  }

  function peek(): ExpressionToken {
    return tokens[next] ?? { kind: "end", text: "", at: 0 };
  }

  function take(): ExpressionToken {
    const token = peek();
    next += 1;
    return token;
  }

  function accept(...texts: string[]): ExpressionToken | undefined {
    return texts.includes(peek().text) ? take() : undefined;
  }
}

function applyOperator(operator: string, left: number, right: number): number {
  if (operator === "*") return left * right;
  return operator === "/" ? left / right : left % right;
}

/** Checks the range of a number. Also turns −0 into 0. */
function checkNumber(value: number, at: number): number {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value + 0;
  throw new ExpressionError(
    Number.isNaN(value) ? "the result is not a number" : "the number is too large to be counted exactly",
    at,
  );
}

/**
 * A token of an arithmetic expression. `at` is its offset in the text, from 0. The last token is `end`, with empty
 * text.
 */
interface ExpressionToken {
  kind: "number" | "name" | "sign" | "end";
  text: string;
  at: number;
}

/** A name may have parts: `pressure.memory`. */
const TOKEN =
  /(\d+(?:\.\d+)?|\.\d+)|([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)|([<>=!]=|[^ \t])/gu;

/** Splits an expression into tokens. Never fails: an unknown character becomes a `sign` that no rule accepts. */
function tokenizeExpression(text: string): ExpressionToken[] {
  const found = Array.from(text.matchAll(TOKEN), (match): ExpressionToken => {
    const kind = match[1] !== undefined ? "number" : match[2] !== undefined ? "name" : "sign";
    return { kind, text: match[0], at: match.index };
  });
  return [...found, { kind: "end", text: "", at: text.length }];
}
