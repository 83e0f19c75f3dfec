/** Which columns of a table are on, and where they are. */
import { describe, expect, it } from "vitest";
import { createSnapshot, createTicketKey, NOW } from "../../../fixtures/state/sample-snapshots.ts";
import { ON_DEMAND } from "../../../src/cli/commands/see/grid.ts";
import {
  ConsoleTable,
  chooseColumns,
  findPlacedColumn,
  listColumnIds,
  placeTableColumns,
} from "../../../src/console/data/console-table.ts";

const COLUMNS = (["a", "b", "c"] as const).map((id, at) => ({
  id,
  title: id,
  priority: id === "c" ? ON_DEMAND : at + 1,
  formatCell: () => id,
}));

describe("the columns that are on", () => {
  it.each([
    [undefined, ["a", "b"], ["a", "b", "c"]],
    [
      ["c", "a"],
      ["c", "a"],
      ["c", "a", "b"],
    ],
    [["x"], ["a", "b"], ["a", "b", "c"]],
    [[], ["a", "b"], ["a", "b", "c"]],
    [["x", "b"], ["b"], ["b", "a", "c"]],
  ])("with the choice %j are %j", (chosen, on, all) => {
    expect(chooseColumns(COLUMNS, chosen).map(({ id }) => id)).toEqual(on);
    expect(listColumnIds(COLUMNS, chosen)).toEqual(all);
  });

  it("are found where they were painted; a gap belongs to the column before it", () => {
    const placed = placeTableColumns([
      { column: { id: "a" }, width: 4 },
      { column: { id: "b" }, width: 2 },
    ]);
    const find = (at: number) => findPlacedColumn(placed, at);
    expect([-1, 0, 5, 6, 9, 10].map(find)).toEqual([undefined, "a", "a", "b", "b", undefined]);
  });
});

describe("a table", () => {
  const update = (columns: string[] | undefined, width: number) => {
    const table = new ConsoleTable("locks");
    table.update(createSnapshot([createTicketKey("lock alpha held", "a", 1)]), NOW, {
      filter: "",
      order: undefined,
      columns,
    });
    const look = { colours: false, marks: undefined, arrow: ">", width };
    const { head } = table.buildRows({ top: 0, height: 5 }, NOW, look);
    return { table, head: head.map(({ text }) => text).join("") };
  };

  it("has the chosen columns in their order, and tells why others are hidden", () => {
    const { table, head } = update(["waiting", "name", "user"], 80);
    expect(head).toMatch(/^ *WAITING {2,}NAME ▲ {2,}USER$/);
    expect(table.findColumnAt(head.indexOf("NAME"))).toBe("name");
    expect(table.findColumnAt(head.indexOf("USER") + 1)).toBe("user");
  });

  it("says which columns are too narrow or have no values", () => {
    const { table } = update(undefined, 30);
    const states = Object.fromEntries(table.listColumnChoices().map(({ id, state }) => [id, state]));
    expect(states).toMatchObject({ name: "shown", command: "too narrow", label: "no values", user: "off" });
  });
});
