/** What is exported can be read by other programs, and does nothing there. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  buildExportTable,
  type ExportTable,
  escapeMarkdown,
  formatCsv,
  formatMarkdownTable,
} from "../../../src/cli/views/export-table.ts";

function createTable(...rows: string[][]): ExportTable {
  return {
    title: "locks",
    columns: [
      { id: "name", title: "NAME" },
      { id: "waiting", title: "WAITING", align: "right" },
    ],
    rows,
  };
}

/** Reads CSV of RFC 4180. */
function parseCsv(text: string) {
  const rows: string[][] = [];
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/y;
  let row: string[] = [];
  while (cell.lastIndex < text.length) {
    const [, value = "", end] = cell.exec(text) ?? expect.fail("not CSV");
    row.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value);
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe("CSV", () => {
  it.each([
    ["plain", "plain"],
    ["a,b", '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ["two\nlines", '"two\nlines"'],
    [" edge", '" edge"'],
    ["=1+1", "'=1+1"],
    ["@cmd", "'@cmd"],
    ["+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"],
    ["-cmd", "'-cmd"],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ["-5", "-5"],
    ["+1.5", "+1.5"],
    ["-5+1", "'-5+1"],
    ["", ""],
  ])("%j is %s", (text, cell) => {
    expect(formatCsv(createTable([text, "1"]))).toBe(`name,waiting\r\n${cell},1\r\n`);
  });

  it("is read back unchanged for any content, and begins no formula", () => {
    const cell = fc.string({ unit: fc.constantFrom("a", ",", '"', "\n", "\r", "=", "-", "@", " ", "1") });
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 4 }), (rows) => {
        const [, ...read] = parseCsv(formatCsv(createTable(...rows)));
        expect(read.map((row) => row.map((text) => text.replace(/^'(?=[=+\-@\t\r])/, "")))).toEqual(rows);
        for (const text of read.flat()) if (/^[=+\-@\t\r]/.test(text)) expect(Number(text)).not.toBeNaN();
      }),
    );
  });
});

describe("Markdown", () => {
  it("has a table with aligned numbers, and escapes what has a meaning", () => {
    expect(formatMarkdownTable(createTable(["a|b", "1"], ["<b>*x*_y_", "2"]))).toBe(
      [
        "# locks",
        "",
        "| NAME | WAITING |",
        "| --- | ---: |",
        "| a\\|b | 1 |",
        "| \\<b\\>\\*x\\*\\_y\\_ | 2 |",
        "",
      ].join("\n"),
    );
  });

  it.each([
    ["[x](http://evil)", "\\[x\\](http://evil)"],
    ["`rm`", "\\`rm\\`"],
    ["&lt;", "\\&lt;"],
    ["![x](y)", "\\!\\[x\\](y)"],
    ["a\\|b", "a\\\\\\|b"],
  ])("%s is %s", (text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped);
  });
});

it("a table for export has clean cells", () => {
  const column = { id: "name", title: "NAME", priority: 1, formatCell: ({ text }: { text: string }) => text };
  expect(buildExportTable("locks", [column], [{ text: "a\u001b[31mb\nc " }], 0)).toEqual({
    title: "locks",
    columns: [{ id: "name", title: "NAME", align: undefined }],
    rows: [["ab c"]],
  });
});
