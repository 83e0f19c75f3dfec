/** Tables for people, also in narrow terminals. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderGridLines, spreadColumns, wrapText } from "../../../../src/cli/commands/see/grid.ts";
import type { OutputStyle } from "../../../../src/cli/commands/see/paint.ts";
import { UNICODE_DRAWING } from "../../../../src/cli/views/drawing.ts";
import type { TableColumn } from "../../../../src/cli/views/view.ts";
import { computeDisplayWidth } from "../../../../src/core/base/display-width.ts";

type Row = Record<string, string>;
const column = (id: string, priority: number, more: Partial<TableColumn<Row>> = {}): TableColumn<Row> => ({
  id,
  title: id.toUpperCase(),
  priority,
  formatCell: (row: Row) => row[id] ?? "",
  ...more,
});
const COLUMNS = [
  column("name", 1),
  column("state", 1, { getTone: () => "held", isMarked: true }),
  column("note", 3),
  column("run", 9),
];
const PIPE: OutputStyle = { colours: false, marks: undefined, width: undefined, arrow: "->" };
const TERMINAL: OutputStyle = { colours: false, marks: UNICODE_DRAWING.marks, width: 80, arrow: "→" };
const lines = (
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  look: OutputStyle,
  named?: readonly string[],
) => renderGridLines({ columns, rows, wall: 0 }, look, named);
const ROWS = [
  { name: "invoices", state: "held", note: "upgrade of the database tonight", run: "abc" },
  { name: "x", state: "free", note: "", run: "" },
];

describe("a table", () => {
  it("has columns as wide as they need be, and a dash where there is nothing", () => {
    expect(lines(COLUMNS, ROWS, PIPE)).toEqual([
      "NAME      STATE  NOTE",
      "invoices  held   upgrade of the database tonight",
      "x         free   -",
    ]);
  });

  it("leaves out what is empty throughout, unless it is asked for", () => {
    expect(lines(COLUMNS, [{ name: "x", state: "free" }], PIPE)[0]).toBe("NAME  STATE");
    expect(lines(COLUMNS, ROWS, PIPE, ["run", "name"])).toEqual(["RUN  NAME", "abc  invoices", "-    x"]);
    expect(lines(COLUMNS, [{ name: "x" }], PIPE, ["note"])).toEqual(["NOTE", "-"]);
  });

  it("leaves out what matters least where there is no room, then cuts", () => {
    expect(lines(COLUMNS, ROWS, { ...PIPE, width: 40 })[0]).toBe("NAME      STATE  NOTE");
    expect(lines(COLUMNS, ROWS, { ...PIPE, width: 26 })[0]).toBe("NAME      STATE");
    const long = [{ name: "a".repeat(60), state: "held" }];
    expect(lines(COLUMNS, long, { ...PIPE, width: 30 })[1]).toBe(`${"a".repeat(22)}…  held`);
  });

  it("never cuts numbers and states", () => {
    const columns = [
      column("name", 1),
      column("state", 1, { isMarked: true }),
      column("n", 1, { align: "right" }),
    ];
    const number = "1".repeat(36);
    const rows = [{ name: "a".repeat(30), state: "resetting", n: number }];
    expect(lines(columns, rows, { ...PIPE, width: 64 })[1]).toBe(`${"a".repeat(14)}…  resetting  ${number}`);
  });

  it("writes names shorter before it leaves out what matters", () => {
    const who = column("who", 1, { formatBriefCell: ({ who = "" }) => who.replace(".example.com", "") });
    const columns = [who, column("name", 2), column("since", 2, { align: "right" }), column("user", 6)];
    const rows = [{ who: "reports1.example.com:77", name: "monthly-reports", since: "12m4s", user: "ops" }];
    expect(lines(columns, rows, { ...PIPE, width: 60 })).toEqual([
      "WHO                      NAME             SINCE  USER",
      "reports1.example.com:77  monthly-reports  12m4s  ops",
    ]);
    expect(lines(columns, rows, { ...PIPE, width: 50 })[1]).toBe(
      "reports1.example.com:77  monthly-reports  12m4s",
    );
    expect(lines(columns, rows, { ...PIPE, width: 40 })[1]).toBe("reports1:77  monthly-reports  12m4s");
  });

  it("puts sentences and lines to copy below their row where they have no room beside it", () => {
    const columns = [
      column("level", 1, { getTone: () => "problem", isMarked: true }),
      column("detail", 1, { below: "sentence" }),
      column("remedy", 2, { below: "line" }),
    ];
    const detail = "it has held the lock for three days";
    const rows = [{ level: "failure", detail, remedy: `signalbox show lock ${"x".repeat(20)}` }];
    expect(lines(columns, rows, PIPE)).toHaveLength(2);
    expect(lines(columns, rows, { ...TERMINAL, width: 30 })).toEqual([
      "LEVEL",
      "▲ failure",
      "    it has held the lock for",
      "    three days",
      `    → signalbox show lock ${"x".repeat(20)}`,
    ]);
    const clipped = lines(columns, rows, { ...TERMINAL, width: 30, isClipped: true });
    expect(clipped.at(-1)).toBe("    → signalbox show lock xxx…");
  });

  it("marks states, and paints only where colours are wanted", () => {
    const row = [{ name: "x", state: "held" }];
    expect(lines(COLUMNS, row, TERMINAL)[1]).toBe("x     ● held");
    expect(lines(COLUMNS, row, { ...TERMINAL, colours: true })[1]).toBe("x     \x1b[32m● held\x1b[0m");
  });

  it("makes other people's words harmless", () => {
    const hostile = [{ name: "a\x1b]52;c;eA==\x07b\nc\u202e", state: "held" }];
    expect(lines(COLUMNS, hostile, PIPE)[1]).toBe("ab c\\u{202e}  held");
  });

  it("is never wider than there is room, as long as there is any", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 80 });
    const rows = fc.array(fc.record({ name: text, state: text, note: text }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 40, max: 200 }), (some, width) => {
        for (const line of lines(COLUMNS, some, { ...PIPE, width }))
          expect(computeDisplayWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe("a wrapped sentence", () => {
  it.each<[string, number, string[]]>([
    ["", 10, []],
    ["one two three", 7, ["one two", "three"]],
    ["one", 10, ["one"]],
    ["a overlong-word b", 6, ["a", "overl…", "b"]],
    ["日本 日本", 6, ["日本", "日本"]],
  ])("%j in %d columns", (text, columns, lines) => {
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

it("a wide table gives its columns a little more room, all the same, but the last", () => {
  const columns = [10, 6, 4].map((width) => ({ title: "", priority: 1, isWhole: false, texts: [], width }));
  const spread = (width: number) => spreadColumns(columns, width).map((column) => column.width);
  expect(spread(24)).toEqual([10, 6, 4]);
  expect(spread(20)).toEqual([10, 6, 4]);
  expect(spread(27)).toEqual([11, 7, 4]);
  expect(spread(300)).toEqual([14, 10, 4]);
  expect(spreadColumns(columns.slice(0, 1), 80).map(({ width }) => width)).toEqual([10]);
});
