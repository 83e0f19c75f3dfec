/** One row: the text of its cells, their styles, and the row that is selected. */
import { cleanup } from "ink-testing-library";
import { createElement } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { stripStyles } from "../../../src/base/text.ts";
import type { RowCell, RowModel } from "../../../src/console/theme/cells.ts";
import { Row } from "../../../src/console/theme/Row.tsx";
import { dimTheme, getTheme } from "../../../src/console/theme/theme.ts";
import { renderComponent } from "../panes/render-component.ts";

afterEach(cleanup);

const dark = getTheme("dark", "24bit", false);

function renderRow(row: RowModel, theme = dark, width = 20): string {
  return renderComponent(createElement(Row, { ...row, width }), theme)[0] ?? "";
}

const cells: RowCell[] = [
  { text: "  " },
  { text: "invoices", role: "plain" },
  { text: " " },
  { text: "● held", role: "held" },
];

describe("a row", () => {
  it("styles each cell by its role, and closes the style behind it", () => {
    expect(renderRow({ cells })).toBe(`  invoices ${dark.style("held", "● held")}`);
  });

  it("continues the ground beneath a cell and behind it", () => {
    const field: RowCell[] = [
      { text: "ab", role: "field" },
      { text: "c", role: "cursor", ground: "field" },
      { text: "d", role: "field" },
    ];
    const shown = renderRow({ cells: field });
    expect(stripStyles(shown)).toBe("abcd");
    expect(shown).toContain("\x1b[7mc\x1b[27md");
  });

  it("that is selected has its background to its width", () => {
    const shown = renderRow({ cells, selection: "focused" });
    expect(stripStyles(shown)).toBe("▎ invoices ● held".padEnd(20));
    expect(shown).not.toBe(renderRow({ cells, selection: "unfocused" }));
  });

  it("takes all its styles from the theme", () => {
    const quiet = dark.style("quiet", "● held");
    expect(renderRow({ cells }, dimTheme(dark))).toContain(quiet.slice(0, -5));
    expect(renderRow({ cells }, getTheme("mono", "16", false))).toBe("  invoices ● held");
  });

  it("has a line of its own even if it is empty", () => {
    expect(renderComponent(createElement(Row, { cells: [], width: 9 }))).toEqual([""]);
  });
});
