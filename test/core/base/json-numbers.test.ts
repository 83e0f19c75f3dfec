/** Numbers in JSON that would change when they are parsed and formatted. */
import { expect, it } from "vitest";
import { findInexactNumber } from "../../../src/core/base/json-numbers.ts";

it.each<[string, number | undefined]>([
  ["0", undefined],
  ["-9007199254740993", 0],
  ["[9007199254740992, 9007199254740993]", 19],
  ['{"9007199254740993": "9007199254740993 \\" 1e999"}', undefined],
  ['{"a\\\\":9007199254740993}', 7],
  ["[1.5, 1e22, 0.1]", undefined],
  ["[1e400]", 1],
  [`[${"9".repeat(500)}]`, 1],
  ['"never closed 9007199254740993', undefined],
])("%s", (text, at) => {
  expect(findInexactNumber(text)?.at).toBe(at);
});
