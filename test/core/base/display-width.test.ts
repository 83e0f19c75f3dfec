import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measureProcessorMs } from "../../../fixtures/steady.ts";
import {
  cleanToWidth,
  computeDisplayWidth,
  computeStyledWidth,
} from "../../../src/core/base/display-width.ts";
import { clean } from "../../../src/core/base/text.ts";
import { hostile } from "./hostile-text.ts";

describe("the width of a text", () => {
  test.each([
    ["plain", 5],
    ["日本語", 6],
    ["e\u0301", 1],
    ["👍", 2],
    ["🇩🇪", 2],
    ["का", 2],
    [clean("cod\u202esafe"), 15],
    ["● Zürich → Αθήνα │ Москва ✓ …", 29],
  ])("%j has %d columns", (text, width) => {
    expect(computeDisplayWidth(text)).toBe(width);
  });

  test("of parts adds up, with styles or without", () => {
    fc.assert(
      fc.property(hostile, hostile, (one, other) => {
        const [left, right] = [clean(one), clean(other)];
        const sum = computeDisplayWidth(left) + computeDisplayWidth(right);
        expect(computeDisplayWidth(left + right)).toBe(sum);
        expect(computeStyledWidth(`\x1b[1;31m${left}\x1b[0m${right}`)).toBe(sum);
      }),
    );
  });
});

describe("a text cut to a width", () => {
  test("keeps to the columns it is given", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 0, max: 30 }), (text, columns) => {
        expect(computeDisplayWidth(cleanToWidth(text, columns))).toBeLessThanOrEqual(columns);
      }),
    );
    expect(cleanToWidth("abcdef", 4)).toBe("abc…");
    expect(cleanToWidth("abcd", 4)).toBe("abcd");
    expect(cleanToWidth("日本語", 4)).toBe("日…");
    expect(cleanToWidth("abc", 0)).toBe("");
    expect(cleanToWidth("cod\u202esafe", 13)).toBe("cod\\u{202e}s…");
  });

  test("is not cut again", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 0, max: 30 }), (text, columns) => {
        const cut = cleanToWidth(text, columns);
        expect(cleanToWidth(cut, columns)).toBe(cut);
        expect(cleanToWidth(text)).toBe(clean(text));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each(["日", "\u0300", "👍"])("1 MB of %j takes linear time", (piece) => {
    const text = piece.repeat(1_000_000 / piece.length);
    expect(measureProcessorMs(() => cleanToWidth(text, 80))).toBeLessThan(1_000);
  });
});
