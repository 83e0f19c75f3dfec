/** Tables for people: what is shown where there is little room. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../../src/base/text.ts";
import { grid } from "../../src/commands/grid.ts";
import type { Look } from "../../src/commands/paint.ts";
import type { Column } from "../../src/model/tables/view.ts";

type Row = Record<string, string>;
const column = (id: string, priority: number, more: Partial<Column<Row>> = {}): Column<Row> => ({
  ...{ id, title: id.toUpperCase(), priority, text: (row: Row) => row[id] ?? "", ...more },
});
const COLUMNS = [
  column("name", 1),
  column("state", 1, { tone: () => "held" }),
  column("note", 3),
  column("run", 9),
];
const PIPE: Look = { colours: false, marks: undefined, width: undefined };
const ROWS = [
  { name: "invoices", state: "held", note: "upgrade of the database tonight", run: "abc" },
  { name: "x", state: "free", note: "", run: "" },
];

describe("a table", () => {
  it("has columns as wide as they need be, and a dash where there is nothing", () => {
    expect(grid(COLUMNS, ROWS, PIPE)).toEqual([
      "NAME      STATE  NOTE",
      "invoices  held   upgrade of the database tonight",
      "x         free   -",
    ]);
  });

  it("leaves out what is empty throughout, unless it is asked for", () => {
    expect(grid(COLUMNS, [{ name: "x", state: "free" }], PIPE)[0]).toBe("NAME  STATE");
    expect(grid(COLUMNS, ROWS, PIPE, ["run", "name"])).toEqual(["RUN  NAME", "abc  invoices", "-    x"]);
    expect(grid(COLUMNS, [{ name: "x" }], PIPE, ["note"])).toEqual(["NOTE", "-"]);
  });

  it("leaves out what matters least where there is no room, then cuts", () => {
    expect(grid(COLUMNS, ROWS, { ...PIPE, width: 30 })[0]).toBe("NAME      STATE");
    const long = [{ name: "a".repeat(60), state: "held" }];
    expect(grid(COLUMNS, long, { ...PIPE, width: 30 })[1]).toBe(`${"a".repeat(22)}…  held`);
  });

  it("marks states, and paints only where colours are wanted", () => {
    const marks = { held: "● ", free: "○ ", waiting: "◌ ", problem: "▲ ", quiet: "  ", plain: "  " };
    const row = [{ name: "x", state: "held" }];
    expect(grid(COLUMNS, row, { colours: false, marks, width: 80 })[1]).toBe("x     ● held");
    expect(grid(COLUMNS, row, { colours: true, marks, width: 80 })[1]).toBe("x     \x1b[32m● held\x1b[0m");
  });

  it("makes other people's words harmless", () => {
    const hostile = [{ name: "a\x1b]52;c;eA==\x07b\nc\u202e", state: "held" }];
    expect(grid(COLUMNS, hostile, PIPE)[1]).toBe("ab c  held");
  });

  it("is never wider than there is room, as long as there is any", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 80 });
    const rows = fc.array(fc.record({ name: text, state: text, note: text }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 40, max: 200 }), (some, width) => {
        for (const line of grid(COLUMNS, some, { ...PIPE, width }))
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});
