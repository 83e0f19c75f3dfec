import { describe, expect, test } from "vitest";
import {
  compareLines,
  formatKeyFacts,
  formatValueLines,
} from "../../../../../src/cli/commands/see/show-raw.ts";

test.each([
  ['{"a":1,"b":["x"]}', ["{", '  "a": 1,', '  "b": [', '    "x"', "  ]", "}"]],
  ["not json", ["not json"]],
  ["two\nlines", ["two", "lines"]],
  ['{ "a": 1 }', ['{ "a": 1 }']], // another text than it would be written as
  ['{"n":12345678901234567890}', ['{"n":12345678901234567890}']], // a number that a program would change
  ["", [""]],
  ['["\\u001b]52;c;eA==\\u0007"]', ["[", '  "\\u001b]52;c;eA==\\u0007"', "]"]],
  ["raw \u001b[31mred\u0000", ["raw red"]],
])("the lines of a value: %j", (value, lines) => {
  expect(formatValueLines(value)).toEqual(lines);
});

describe("the difference to the value before", () => {
  const show = (before: string[] | undefined, after: string[]) =>
    compareLines(before, after).map(({ mark, text }) => mark + text);

  test.each([
    [undefined, ["a"], [" a"]],
    [["a"], ["a"], [" a"]],
    [
      ["a", "b"],
      ["a", "c"],
      [" a", "-b", "+c"],
    ],
    [["a"], ["x", "a"], ["+x", " a"]],
    [
      ["a", "b", "c"],
      ["a", "c"],
      [" a", "-b", " c"],
    ],
    [[], ["a"], ["+a"]],
    [["a"], [], ["-a"]],
    [
      ["x", "a", "b"],
      ["a", "b", "x"],
      ["-x", " a", " b", "+x"],
    ],
  ])("%j, then %j", (before, after, lines) => {
    expect(show(before, after)).toEqual(lines);
  });

  test("is left out for long values", () => {
    const long = Array.from({ length: 501 }, (_, at) => `${at}`);
    expect(show(["a"], long)).toEqual(long.map((line) => ` ${line}`));
  });
});

test.each([
  [{}, "created at revision 4, changed at 9, version 3, no lease"],
  [{ session: 255n, lease: { left: 20, ttl: 30 } }, "lease ff, 20 s of 30 s left"],
  [{ session: 255n, lease: undefined }, "lease ff, which has ended"],
  [{ session: 255n, lease: null }, "lease ff, its time to live could not be read"],
])("the facts of a key: %#", (change, text) => {
  const key = { key: "k", value: "v", createRevision: 4n, modRevision: 9n, version: 3n, session: 0n };
  expect(formatKeyFacts({ ...key, lease: undefined, ...change })).toContain(text);
});
