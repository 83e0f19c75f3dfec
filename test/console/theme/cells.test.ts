/** The widths of cells: padded, and cut. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { parseSpans } from "../../../fixtures/console/parse-spans.ts";
import type { StyleRole } from "../../../src/console/theme/palettes.ts";
import {
  computeCellsWidth,
  joinCellTexts,
  padCells,
  type RowCell,
  truncateCells,
} from "../../../src/console/theme/Row.tsx";
import { clean } from "../../../src/core/base/text.ts";

const cells: RowCell[] = parseSpans<StyleRole>("lock {held}日本{quiet} web1");

it("cuts cells as one text, and keeps the roles of what is left", () => {
  expect(truncateCells(cells, 14)).toBe(cells);
  expect(truncateCells(cells, 9)).toEqual(parseSpans("lock {held}日…"));
  expect(truncateCells(cells, 3)).toEqual(parseSpans("lo…"));
});

it("never gives more columns than there are, and pads to all of them", () => {
  const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 6 }).map((text) => clean(text)));
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 20 }), (all, width) => {
      const given = all.map((text) => ({ text }));
      const cut = truncateCells(given, width);
      expect(computeCellsWidth(cut)).toBeLessThanOrEqual(width);
      expect(computeCellsWidth(padCells(cut, width))).toBe(width);
      if (computeCellsWidth(given) <= width) expect(joinCellTexts(cut)).toBe(all.join(""));
    }),
  );
});
