/** The order of rows. */
import { describe, expect, it } from "vitest";
import { parseOrder, sorted } from "../../../src/model/tables/sort.ts";

describe("an order", () => {
  it("is by the column's weight, with equal rows in the order of their keys", () => {
    const view = {
      columns: [{ id: "n", title: "", priority: 1, text: String, order: (row: number) => row % 10 }],
      key: (row: number) => String(row),
    };
    expect(sorted(view, [31, 12, 21, 11], parseOrder("n"))).toEqual([11, 21, 31, 12]);
    expect(sorted(view, [31, 12, 21, 11], parseOrder("-n"))).toEqual([12, 11, 21, 31]);
  });
});
