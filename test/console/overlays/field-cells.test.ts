import { describe, expect, it } from "vitest";
import { buildFieldCells, createField } from "../../../src/console/overlays/field.ts";
import { computeCellsWidth, joinCellTexts } from "../../../src/console/theme/Row.tsx";

describe("the cells of a field", () => {
  it("fill its width, with the cursor on the letter that it is before", () => {
    const cells = buildFieldCells({ text: "web1", cursor: 1 }, 10);
    expect(joinCellTexts(cells)).toBe("web1      ");
    expect(cells[1]).toEqual({ text: "e", role: "cursor", ground: "field" });
  });

  it("have the cursor behind the text at its end, and none where the field is not active", () => {
    const field = createField("ab");
    expect(buildFieldCells(field, 6)[1]).toEqual({ text: " ", role: "cursor", ground: "field" });
    expect(buildFieldCells(field, 6, false).some(({ role }) => role === "cursor")).toBe(false);
  });

  it("never take more columns than there are", () => {
    for (const text of ["x".repeat(80), "日本".repeat(20), ""])
      for (const width of [4, 7, 40])
        expect(computeCellsWidth(buildFieldCells(createField(text), width))).toBe(width);
  });
});
