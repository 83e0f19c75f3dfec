import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findJsonFault } from "../../src/base/json.ts";

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("jsonFault", () => {
  test.each([
    ['{"a": 1,}', 1, 9, 'expected a quoted key, got "}"'],
    ['{\n  "a" 1}', 2, 7, 'expected ":", got "1"'],
    ["", 1, 1, "expected a value, but the text ends"],
    ["[1, 2", 1, 6, 'expected "," or a closing bracket, but the text ends'],
    ['{"a": "b\nc"}', 1, 7, "a string is not closed, or contains a line break or an invalid escape"],
    ["1 2", 1, 3, 'expected the end, got "2"'],
    ["{// comment\n}", 1, 2, 'expected a quoted key or "}", got "/"'],
    ["{'a': 1}", 1, 2, 'expected a quoted key or "}", got "\'"'],
    ['{"a": 1]', 1, 8, 'expected "," or a closing bracket, got "]"'],
    ["[tru]", 1, 2, 'expected a value or "]", got "t"'],
    ["\u00a0{}", 1, 1, "expected a value, got an invalid character"],
  ])("%j: line %d, column %d: %s", (text, line, column, what) => {
    expect(findJsonFault(text)).toEqual({ line, column, what });
  });

  test("finds nothing in what JSON.parse takes", () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 1, "\t"), (text, indent) => {
        expect(findJsonFault(text)).toBeUndefined();
        expect(findJsonFault(JSON.stringify(JSON.parse(text), null, indent))).toBeUndefined();
      }),
    );
  });

  test("agrees with JSON.parse on damaged JSON", () => {
    const damaged = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.nat(3),
        fc.constantFrom("", ",", "}", "]", '"', "\\", "x", "1", "\n", ":", "-"),
      )
      .map(([text, at, length, piece]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + piece + text.slice(place + length);
      });
    fc.assert(
      fc.property(damaged, (text) => {
        expect(findJsonFault(text) === undefined).toBe(parses(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test("takes nesting as deep as it comes", () => {
    expect(findJsonFault("[".repeat(100_000))).toMatchObject({ column: 100_001 });
    expect(findJsonFault("[".repeat(100_000) + "]".repeat(100_000))).toBeUndefined();
  });
});
