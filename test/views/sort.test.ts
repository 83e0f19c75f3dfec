/** The order of rows. */
import { describe, expect, it } from "vitest";
import { parseSortOrder, sortViewRows } from "../../src/views/sort.ts";

describe("an order", () => {
  it("is by the column's weight, with equal rows in the order of their keys", () => {
    const view = {
      columns: [
        { id: "n", title: "", priority: 1, formatCell: String, getSortValue: (row: number) => row % 10 },
      ],
      getKey: (row: number) => String(row),
    };
    expect(sortViewRows(view, [31, 12, 21, 11], parseSortOrder("n"))).toEqual([11, 21, 31, 12]);
    expect(sortViewRows(view, [31, 12, 21, 11], parseSortOrder("-n"))).toEqual([12, 11, 21, 31]);
  });
});
