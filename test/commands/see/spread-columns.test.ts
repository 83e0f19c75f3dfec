import { expect, it } from "vitest";
import { spreadColumns } from "../../../src/commands/see/fit-columns.ts";

const columns = [10, 6, 4].map((width) => ({ title: "", priority: 1, isWhole: false, texts: [], width }));
const spread = (width: number) => spreadColumns(columns, width).map((column) => column.width);

it("gives the columns of a wide table a little more room, all the same, but the last", () => {
  expect(spread(24)).toEqual([10, 6, 4]);
  expect(spread(20)).toEqual([10, 6, 4]);
  expect(spread(27)).toEqual([11, 7, 4]);
  expect(spread(300)).toEqual([14, 10, 4]);
  expect(spreadColumns(columns.slice(0, 1), 80).map(({ width }) => width)).toEqual([10]);
});
