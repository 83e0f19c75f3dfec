import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evaluateComparison, evaluateExpression } from "../../../src/core/fleet/arithmetic.ts";

const MACROS: Record<string, number | string> = { CPU: 8, MEMMB: 7976, HOST: "web1", HUGE: 2 ** 60 };
const lookup = (name: string) => (Object.hasOwn(MACROS, name) ? MACROS[name] : undefined);

/** An expression with its text and its value, computed without the parser; undefined if it has no value. */
interface Sample {
  text: string;
  value: number | undefined;
  /** How tightly its outermost operator binds: 1 sum, 2 product, 3 sign, 4 operand. */
  binds: number;
}

const bracketed = ({ text, binds }: Sample, least: number) => (binds >= least ? text : `(${text})`);
const safe = (value: number | undefined) =>
  value !== undefined && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value + 0 : undefined;

function binary(operator: string, left: Sample, right: Sample): Sample {
  const binds = "+-".includes(operator) ? 1 : 2;
  const text = `${bracketed(left, binds)} ${operator} ${bracketed(right, binds + 1)}`;
  const [a, b] = [left.value, right.value];
  if (a === undefined || b === undefined || ("/%".includes(operator) && b === 0))
    return { text, binds, value: undefined };
  const value = { "+": a + b, "-": a - b, "*": a * b, "/": a / b, "%": a % b }[operator];
  return { text, binds, value: safe(value) };
}

function call(name: string, given: Sample[]): Sample {
  const values = given.map(({ value }) => value);
  const all = values.every((value) => value !== undefined) ? values : undefined;
  const of: Record<string, (...all: number[]) => number> = {
    int: (x) => (x < 0 ? Math.ceil(x) : Math.floor(x)),
    floor: Math.floor,
    ceil: Math.ceil,
    round: (x) => (x < 0 ? -Math.floor(-x + 0.5) : Math.floor(x + 0.5)),
    min: (...some) => some.reduce((a, b) => (a < b ? a : b)),
    max: (...some) => some.reduce((a, b) => (a > b ? a : b)),
  };
  const value = all === undefined ? undefined : safe(of[name]?.(...all));
  return { text: `${name}(${given.map(({ text }) => text).join(", ")})`, binds: 4, value };
}

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.nat(9_999).map((value): Sample => ({ text: String(value), value, binds: 4 })),
    fc.nat(99).map((value): Sample => ({ text: `${value}.25`, value: value + 0.25, binds: 4 })),
    fc.constantFrom<Sample>({ text: "CPU", value: 8, binds: 4 }, { text: "MEMMB", value: 7976, binds: 4 }),
    fc.tuple(fc.constantFrom(..."+-*/%"), tie("sample"), tie("sample")).map(([o, a, b]) => binary(o, a, b)),
    tie("sample").map((one) => ({
      text: `-${bracketed(one, 3)}`,
      value: safe(one.value && -one.value),
      binds: 3,
    })),
    fc
      .tuple(fc.constantFrom("int", "floor", "ceil", "round"), tie("sample"))
      .map(([name, one]) => call(name, [one])),
    fc
      .tuple(fc.constantFrom("min", "max"), fc.array(tie("sample"), { minLength: 1, maxLength: 3 }))
      .map(([name, some]) => call(name, some)),
  ),
}));

describe("evaluate", () => {
  test.each([
    ["int(MEMMB/1024)", 7],
    ["round(-1.5)", -2],
    ["round(0.49999999999999994)", 0],
    ["max( CPU , 2 )", 8],
    [".5*CPU", 4],
    [" 1\t+ 1 ", 2],
    ["0*-1", 0],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ])("%s = %d", (text, value) => {
    expect(evaluateExpression(text, lookup)).toEqual({ value });
  });

  test.each([
    ["", "a number is missing, at character 1"],
    ["2 3", 'unexpected "3", at character 3'],
    ["2+*3", 'expected a number, got "*", at character 3'],
    ["(2+3", '")" is missing, at character 5'],
    ["2+3)", 'unexpected ")", at character 4'],
    ["min()", 'expected a number, got ")", at character 5'],
    ["int(1,2)", "int takes one number, not 2, at character 1"],
    ["int", "int needs numbers in brackets, at character 1"],
    ["2*RAM", 'there is no macro "RAM", at character 3'],
    ["HOST+1", 'HOST is the text "web1", not a number, at character 1'],
    [
      "sqrt(4)",
      'there is no function "sqrt"; the functions are int, floor, ceil, round, min, max, at character 1',
    ],
    [
      "CPU(4)",
      'there is no function "CPU"; the functions are int, floor, ceil, round, min, max, at character 1',
    ],
    ["CPU/0", "division by zero, at character 4"],
    ["HUGE", "the number is too large to be counted exactly, at character 1"],
    ["9007199254740991+1", "the number is too large to be counted exactly, at character 17"],
    ["1e3", 'unexpected "e3", at character 2'],
    ["1..2", 'unexpected ".", at character 2'],
    ["constructor", 'there is no macro "constructor", at character 1'],
    ["a.b", 'there is no macro "a.b", at character 1'],
    ["CPU < 3", 'unexpected "<", at character 5'],
    ["2\n+2", 'unexpected "\\n", at character 2'],
    ["👍", 'expected a number, got "👍", at character 1'],
  ])("%j: %s", (text, fault) => {
    expect(evaluateExpression(text, lookup)).toEqual({ fault: `${JSON.stringify(text)}: ${fault}` });
  });

  test.each([
    ["(", ")"],
    ["-", ""],
    ["int(", ")"],
    ["1+(", ")"],
  ])("nesting %j without end is refused, not overflowed into", (open, close) => {
    const nested = (depth: number) => open.repeat(depth) + 1 + close.repeat(depth);
    expect(evaluateExpression(nested(50), lookup)).toHaveProperty("value");
    expect(evaluateExpression(nested(51), lookup)).toHaveProperty(
      "fault",
      expect.stringContaining("nested more than 50 levels deep"),
    );
    expect(evaluateExpression(nested(10_000), lookup)).toHaveProperty(
      "fault",
      expect.stringContaining("too long"),
    );
  });

  test("what stands side by side is not nested", () => {
    expect(evaluateExpression("(1)+".repeat(100) + 1, lookup)).toEqual({ value: 101 });
  });

  test("10 kB are refused unread, and not repeated", () => {
    const result = evaluateExpression("1+".repeat(5_000), lookup);
    expect(result).toHaveProperty(
      "fault",
      expect.stringContaining("too long: 10000 characters, at most 500 are allowed"),
    );
    expect(JSON.stringify(result).length).toBeLessThan(200);
  });

  test("agrees with the value of a tree reckoned directly", () => {
    fc.assert(
      fc.property(sample, ({ text, value }) => {
        fc.pre(text.length <= 500);
        const result = evaluateExpression(text, lookup);
        if (value === undefined) expect(result).toHaveProperty("fault");
        else expect(result).toEqual({ value });
      }),
      { numRuns: 3_000 },
    );
  });

  test("whatever comes in, a finite number or a fault comes out", () => {
    const pieces = fc.array(fc.constantFrom(..."()+-*/%,. ", "1", "0", "CPU", "HOST", "int", "min", "é"), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          pieces.map((all) => all.join("")),
        ),
        (text) => {
          const result = evaluateExpression(text, lookup);
          if ("value" in result) expect(Number.isFinite(result.value)).toBe(true);
          else expect(result.fault).toMatch(/at character \d+$/);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("a macro is asked for only when it is named", () => {
    const asked: string[] = [];
    const noting = (name: string) => {
      asked.push(name);
      return 2;
    };
    evaluateExpression("1+2*max(3,4)", noting);
    expect(asked).toEqual([]);
    evaluateExpression("CPU*2", noting);
    expect(asked).toEqual(["CPU"]);
  });
});

describe("a comparison", () => {
  test.each([
    ["CPU < 9", true],
    ["CPU < 8", false],
    ["8 <= CPU", true],
    ["CPU > 7.5", true],
    ["CPU>8", false],
    ["CPU >= 2*4", true],
    ["CPU == (4 + 4)", true],
    ["CPU != 8", false],
    ["7%4 == 3", true],
  ])("%s is %s", (text, value) => {
    expect(evaluateComparison(text, lookup)).toEqual({ value });
  });

  test.each([
    ["", "a number is missing, at character 1"],
    ["CPU", "a comparison is missing, at character 4"],
    ["CPU = 8", 'expected a comparison, got "=", at character 5'],
    ["CPU < = 8", 'expected a number, got "=", at character 7'],
    ["CPU =< 8", 'expected a comparison, got "=", at character 5'],
    ["1 < CPU < 9", 'unexpected "<", at character 9'],
    ["(CPU < 9)", 'expected ")", got "<", at character 6'],
  ])("%j: %s", (text, fault) => {
    expect(evaluateComparison(text, lookup)).toEqual({ fault: `${JSON.stringify(text)}: ${fault}` });
  });
});
