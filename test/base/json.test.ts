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
    ['{"a": 1,}', 1, 9, '"}" stands where a quoted key is wanted'],
    ['{\n  "a" 1}', 2, 7, '"1" stands where ":" is wanted'],
    ["", 1, 1, "the text ends where a value is wanted"],
    ["[1, 2", 1, 6, 'the text ends where "," or a closing bracket is wanted'],
    ['{"a": "b\nc"}', 1, 7, "a string is not closed, or holds a line break or a bad escape"],
    ["1 2", 1, 3, '"2" stands where the end is wanted'],
    ["{// comment\n}", 1, 2, '"/" stands where a quoted key or "}" is wanted'],
    ["{'a': 1}", 1, 2, '"\'" stands where a quoted key or "}" is wanted'],
    ['{"a": 1]', 1, 8, '"]" stands where "," or a closing bracket is wanted'],
    ["[tru]", 1, 2, '"t" stands where a value or "]" is wanted'],
    ["\u00a0{}", 1, 1, "a character that cannot be stands where a value is wanted"],
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
