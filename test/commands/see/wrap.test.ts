/** Wrapping of sentences. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { computeDisplayWidth } from "../../../src/base/display-width.ts";
import { wrapText } from "../../../src/commands/see/grid.ts";

describe("a wrapped sentence", () => {
  it.each([
    { text: "", columns: 10, lines: [] },
    { text: "one two three", columns: 7, lines: ["one two", "three"] },
    { text: "one", columns: 10, lines: ["one"] },
    { text: "a overlong-word b", columns: 6, lines: ["a", "overl…", "b"] },
    { text: "日本 日本", columns: 6, lines: ["日本", "日本"] },
  ])("$text in $columns columns", ({ text, columns, lines }) => {
    expect(wrapText(text, columns)).toEqual(lines);
  });

  it("has no line that is too wide", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 2, max: 40 }), (text, columns) => {
        for (const line of wrapText(text, columns))
          expect(computeDisplayWidth(line)).toBeLessThanOrEqual(columns);
      }),
    );
  });
});
