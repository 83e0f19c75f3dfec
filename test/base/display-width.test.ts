import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { measureProcessorMs } from "../../fixtures/steady.ts";
import { cleanToWidth, computeDisplayWidth, computeStyledWidth } from "../../src/base/display-width.ts";
import { clean } from "../../src/base/text.ts";
import { hostile } from "./hostile-text.ts";

describe("the width of a text", () => {
  test.each([
    ["plain", 5],
    ["日本語", 6],
    ["e\u0301", 1],
    ["👍", 2],
    ["🇩🇪", 2],
    ["● Zürich → Αθήνα │ Москва ✓ …", 29],
  ])("%j has %d columns", (text, width) => {
    expect(computeDisplayWidth(text)).toBe(width);
  });

  test("is that of the package for every single character", () => {
    for (let code = 0x20; code < 0x3000; code++) {
      const char = clean(String.fromCodePoint(code));
      if (computeDisplayWidth(char) !== stringWidth(char)) expect.fail(`U+${code.toString(16)}`);
    }
  });

  test("is that of the package for every text, with styles or without", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(computeDisplayWidth(clean(text))).toBe(stringWidth(clean(text)));
        expect(computeStyledWidth(`\x1b[1;31m${clean(text)}\x1b[0m`)).toBe(stringWidth(clean(text)));
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
