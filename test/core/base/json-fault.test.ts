import fc from "fast-check";
import * as parser from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { findJsonFault as findFault } from "../../../src/core/base/json-fault.ts";

const findJsonFault = (text: string) => findFault(text, parser);

function parses(text: string) {
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
    ["{", 1, 2, 'expected a quoted key, "," or a closing bracket, but the text ends'],
    ["{// comment\n}", 1, 2, "JSON cannot contain comments"],
    ["{'a': 1}", 1, 2, '"\'" is not allowed here; keys and texts need double quotes'],
    ['{"a": 1]', 1, 8, 'expected "," or a closing bracket, got "]"'],
    ["{\n  ]", 2, 3, 'expected a quoted key, got "]"'],
    ["[1 2]", 1, 4, 'expected "," or a closing bracket, got "2"'],
    ["[1.]", 1, 2, "a number is not complete"],
    ["[tru]", 1, 2, '"t" is not allowed here; keys and texts need double quotes'],
    ["\u00a0{}", 1, 1, "an invalid character is not allowed here; keys and texts need double quotes"],
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

  test("brackets without end are refused, not descended into", () => {
    const deep = { line: 1, column: 101, what: "nested more than 100 levels deep" };
    expect(findJsonFault("[".repeat(100_000))).toEqual(deep);
    expect(findJsonFault("[".repeat(100_000) + "]".repeat(100_000))).toEqual(deep);
    expect(findJsonFault(`${"[".repeat(100)}"[{"${"]".repeat(100)}`)).toBeUndefined();
  });
});
