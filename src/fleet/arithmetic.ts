import { type Parsed, quoted } from "../base/text.ts";
import { type Token, tokens } from "./tokens.ts";

/** What a name in an expression stands for: a number, or a text, which cannot be reckoned with; undefined = unknown. */
export type Lookup = (name: string) => number | string | undefined;

/** Longer expressions are refused unread. */
const MAX_LENGTH = 500;
/** Brackets, functions and signs inside each other. */
const MAX_DEPTH = 50;

/**
 * The value of an expression over numbers and macros: `+ - * / % ( )`, and int, floor, ceil, round, min, max.
 *
 * Read by a parser of its own, never by `eval`. `int` cuts towards zero, `round` takes halves away from zero, `%` has
 * the sign of its left side. Every step must give a finite number no larger than 2^53 − 1, since beyond it units
 * would be counted wrongly.
 * @param lookup  asked for a macro only when the expression names it
 * @returns a finite number; or what is wrong, with the expression and the place in it, from 1
 */
export function evaluate(text: string, lookup: Lookup): Parsed<number> {
  if (text.length > MAX_LENGTH) {
    return { fault: `${quoted(text)} is too long: ${text.length} characters, ${MAX_LENGTH} are allowed` };
  }
  try {
    return { value: new Reader(text, lookup).whole() };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { fault: `${quoted(text)}: ${error.message}, at character ${error.at + 1}` };
  }
}

/**
 * The value of an expression that counts units of a resource.
 * @returns a whole number from 1 to 2^53 − 1; or what is wrong, with the expression and its result
 */
export function evaluateUnits(text: string, lookup: Lookup): Parsed<number> {
  const result = evaluate(text, lookup);
  if ("fault" in result || (Number.isInteger(result.value) && result.value > 0)) return result;
  const { value } = result;
  if (Number.isInteger(value)) return { fault: `${quoted(text)} is ${value}, it must be 1 or more` };
  return { fault: `${quoted(text)} is ${value}, not a whole number; round it with int(...) or ceil(...)` };
}

class Fault extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const FUNCTIONS: ReadonlyMap<string, { arity: number; of: (...values: number[]) => number }> = new Map([
  ["int", { arity: 1, of: Math.trunc }],
  ["floor", { arity: 1, of: Math.floor }],
  ["ceil", { arity: 1, of: Math.ceil }],
  ["round", { arity: 1, of: (value) => Math.sign(value) * Math.round(Math.abs(value)) }],
  ["min", { arity: Number.POSITIVE_INFINITY, of: Math.min }],
  ["max", { arity: Number.POSITIVE_INFINITY, of: Math.max }],
]);

/** Recursive descent; as deep as `MAX_DEPTH` levels of four calls. */
class Reader {
  readonly #tokens: readonly Token[];
  readonly #lookup: Lookup;
  #next = 0;
  #depth = 0;

  constructor(text: string, lookup: Lookup) {
    this.#tokens = tokens(text);
    this.#lookup = lookup;
  }

  whole(): number {
    const value = this.#sum();
    const { text, at } = this.#peek();
    if (text !== "") throw new Fault(`${quoted(text)} is not expected`, at);
    return value;
  }

  #sum(): number {
    let value = this.#product();
    for (let token = this.#accept("+", "-"); token !== undefined; token = this.#accept("+", "-")) {
      const right = this.#product();
      value = checked(token.text === "+" ? value + right : value - right, token.at);
    }
    return value;
  }

  #product(): number {
    let value = this.#signed();
    for (let token = this.#accept("*", "/", "%"); token !== undefined; token = this.#accept("*", "/", "%")) {
      const right = this.#signed();
      if (token.text !== "*" && right === 0) throw new Fault("division by zero", token.at);
      value = checked(apply(token.text, value, right), token.at);
    }
    return value;
  }

  #signed(): number {
    const sign = this.#accept("-");
    if (sign === undefined) return this.#operand();
    return this.#deeper(sign.at, () => 0 - this.#signed());
  }

  #operand(): number {
    const { kind, text, at } = this.#take();
    if (kind === "number") return checked(Number(text), at);
    if (kind === "name") return this.#named(text, at);
    if (text === "(") return this.#deeper(at, () => this.#closed(() => this.#sum()));
    if (text === "") throw new Fault("a number is missing", at);
    throw new Fault(`${quoted(text)} stands where a number is wanted`, at);
  }

  #named(name: string, at: number): number {
    const called = FUNCTIONS.get(name);
    if (this.#accept("(") !== undefined) {
      if (called === undefined) {
        throw new Fault(
          `there is no function ${quoted(name)}; there are ${[...FUNCTIONS.keys()].join(", ")}`,
          at,
        );
      }
      const values = this.#deeper(at, () => this.#closed(() => this.#list()));
      if (values.length <= called.arity) return checked(called.of(...values), at);
      throw new Fault(`${name} takes one number, not ${values.length}`, at);
    }
    if (called !== undefined) throw new Fault(`${name} needs numbers in brackets`, at);
    const value = this.#lookup(name);
    if (value === undefined) throw new Fault(`there is no macro ${quoted(name)}`, at);
    if (typeof value === "string") throw new Fault(`${name} is the text ${quoted(value)}, not a number`, at);
    return checked(value, at);
  }

  #list(): number[] {
    const values = [this.#sum()];
    while (this.#accept(",") !== undefined) values.push(this.#sum());
    return values;
  }

  #closed<T>(inner: () => T): T {
    const value = inner();
    const { text, at } = this.#take();
    if (text !== ")")
      throw new Fault(text === "" ? '")" is missing' : `${quoted(text)} stands where ")" is wanted`, at);
    return value;
  }

  #deeper<T>(at: number, inner: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new Fault(`nested more than ${MAX_DEPTH} deep`, at);
    const value = inner();
    this.#depth -= 1;
    return value;
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { kind: "end", text: "", at: 0 };
  }

  #take(): Token {
    const token = this.#peek();
    this.#next += 1;
    return token;
  }

  #accept(...texts: string[]): Token | undefined {
    return texts.includes(this.#peek().text) ? this.#take() : undefined;
  }
}

function apply(operator: string, left: number, right: number): number {
  if (operator === "*") return left * right;
  return operator === "/" ? left / right : left % right;
}

/** Also turns −0 into 0, which nobody means. */
function checked(value: number, at: number): number {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value + 0;
  throw new Fault(
    Number.isNaN(value) ? "the result is not a number" : "the number is too large to be counted exactly",
    at,
  );
}
