/** One row: the text of its cells, their looks, the ground that it is on, and the row that is selected. */
import xterm from "@xterm/headless";
import { renderToString } from "ink";
import { cleanup } from "ink-testing-library";
import { createElement } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { parseSpans } from "../../../fixtures/console/parse-spans.ts";
import { renderComponent } from "../../../fixtures/console/render-component.ts";
import { paintBase } from "../../../src/console/terminal/output-sequences.ts";
import type { StyleRole } from "../../../src/console/theme/palettes.ts";
import {
  Row,
  type RowCell,
  type RowModel,
  Rows,
  Surface,
  ThemeContext,
} from "../../../src/console/theme/Row.tsx";
import {
  dimTheme,
  getTheme,
  setColourDepth,
  shadeTheme,
  type Theme,
} from "../../../src/console/theme/theme.ts";
import { stripStyles } from "../../../src/core/base/text.ts";

afterEach(cleanup);

const dark = getTheme("dark", "24bit", false);
const at = (hex: string) => Number.parseInt(hex.slice(1), 16);
const [SELECTED, GREEN, QUIET, TEXT] = [at("#04395e"), at("#6cc58a"), at("#a0a8b2"), at("#cccccc")];

const cellsOf = (text: string): RowCell[] => parseSpans<StyleRole>(text);

function renderRow(row: RowModel, theme = dark, width = 20) {
  return renderComponent(createElement(Row, { ...row, width }), theme)[0] ?? "";
}

interface TerminalCell {
  char: string;
  fg: number;
  bg: number;
  isBold: boolean;
  isInverse: boolean;
}

/** A row as a terminal shows it. */
function showRow(row: RowModel, theme = dark): Promise<TerminalCell[]> {
  return showLine(renderRow(row, theme), theme);
}

/** A line as a terminal shows it. */
async function showLine(line: string, { base }: Theme): Promise<TerminalCell[]> {
  const terminal = new xterm.Terminal({ cols: 60, rows: 2, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(paintBase(line, base), done));
  const shown = terminal.buffer.active.getLine(0);
  const cells = Array.from({ length: 60 }, (_, column) => {
    const cell = shown?.getCell(column);
    if (cell === undefined) throw new Error(`no column ${column}`);
    const [isBold, isInverse] = [cell.isBold() !== 0, cell.isInverse() !== 0];
    return { char: cell.getChars(), fg: cell.getFgColor(), bg: cell.getBgColor(), isBold, isInverse };
  });
  terminal.dispose();
  return cells;
}

const cells = cellsOf("  {plain}invoices{} {held}● held");

describe("a row", () => {
  it("has the look of each cell's role, and nothing of it behind the cell", async () => {
    const shown = await showRow({ cells: [...cells, ...cellsOf("{match}b{}c")] });
    expect(shown.slice(10, 20).map(({ char, fg, isBold }) => [char, fg, isBold])).toEqual([
      [" ", TEXT, false],
      ...[..."● held"].map((char) => [char, GREEN, false]),
      ["b", at("#75beff"), true],
      ["c", TEXT, false],
      ["", -1, false],
    ]);
  });

  it("continues the ground beneath a cell and behind it", async () => {
    const field: RowCell[] = [
      ...cellsOf("{field}ab"),
      { text: "c", role: "cursor", ground: "field" },
      ...cellsOf("{field}d"),
    ];
    const shown = await showRow({ cells: field });
    expect(shown.slice(0, 4).map(({ bg, isInverse }) => [bg, isInverse])).toEqual([
      [at("#37373d"), false],
      [at("#37373d"), false],
      [at("#37373d"), true],
      [at("#37373d"), false],
    ]);
  });

  it("that is selected has one background to its width, and its cells keep their colours", async () => {
    const shown = await showRow({ cells: [...cells, ...cellsOf("{barLive}x")], selection: "focused" });
    const grounds = shown.slice(0, 20).map(({ bg }) => bg);
    expect(new Set(grounds.toSpliced(17, 1))).toEqual(new Set([SELECTED]));
    expect([grounds[17], shown[20]?.bg]).toEqual([at("#0a5c96"), -1]);
    expect([shown[11]?.fg, shown[3]?.fg], "whatever the terminal's own colour of letters is").toEqual([
      GREEN,
      TEXT,
    ]);
    expect(stripStyles(renderRow({ cells, selection: "focused" }))).toBe("▎ invoices ● held".padEnd(20));
    expect(renderRow({ cells, selection: "focused" })).not.toBe(renderRow({ cells, selection: "unfocused" }));
  });

  it.each(["ansi", "mono"] as const)("that is selected is inverted as a whole in %s", async (name) => {
    const inner = cellsOf("{problem} ● lost {barLive}b");
    const shown = await showRow({ cells: inner, selection: "focused" }, getTheme(name, "16", false));
    const styles = shown.slice(1, 20).map(({ isInverse, fg, bg }) => `${isInverse} ${fg} ${bg}`);
    expect(new Set(styles)).toEqual(new Set(["true -1 -1"]));
  });

  it("takes all its looks from the theme, and only colours that the terminal has", async () => {
    expect((await showRow({ cells }, dimTheme(dark)))[11]?.fg).toBe(QUIET);
    expect(renderRow({ cells }, getTheme("mono", "16", false))).toBe("  invoices ● held");
    expect(renderRow({ cells }, getTheme("dark", "256", false))).toMatch(/\x1b\[38;5;\d+m● held/);
  });

  it("has a line of its own even if it is empty", () => {
    expect(renderComponent(createElement(Row, { cells: [], width: 9 }))).toEqual([""]);
  });
});

/** Rows on a surface of 20 columns and 4 rows, in a terminal: what each line shows. */
function showSurface(rows: readonly RowModel[], theme = dark, role: StyleRole = "sidebar") {
  setColourDepth(theme);
  const surface = createElement(
    Surface,
    { ground: role, width: 20, height: 4, flexDirection: "column", overflow: "hidden" },
    createElement(Rows, { rows, width: 20 }),
  );
  const frame = renderToString(createElement(ThemeContext, { value: theme }, surface), { columns: 60 });
  return Promise.all(frame.split("\n").map((line) => showLine(line, theme)));
}

const listGrounds = (line: readonly TerminalCell[] | undefined) => line?.map(({ bg }) => bg);

describe("a surface", () => {
  const SIDEBAR = at("#181818");
  const whole = [...Array<number>(20).fill(SIDEBAR), ...Array<number>(40).fill(-1)];
  it.each([
    ["short", "  {plain}invoices{} {held}● held", "  invoices ● held"],
    ["long", "{plain}a long name {held}of a lock", "a long name of a lo…"],
    ["wide", "{held}日本{} {quiet}漢", "日本 漢"],
    ["wide at the edge", `{waiting}${"日".repeat(12)}`, `${"日".repeat(9)}…`],
    ["empty", "", ""],
  ])("has its ground beneath a row that is %s, and behind it to its edge", async (_, row, text) => {
    const lines = await showSurface([{ cells: cellsOf(row) }]);
    const [line] = lines;
    const shown = line?.map(({ char }) => char).join("");
    expect(shown?.trimEnd()).toBe(text);
    expect(lines.map(listGrounds)).toEqual([whole, whole, whole, whole]);
  });

  it("leaves a selected row, and a text with a ground, their own", async () => {
    const [selected, live] = await showSurface([
      { cells, selection: "focused" },
      { cells: cellsOf("{barLive}LIVE{}日本") },
    ]);
    expect(listGrounds(selected)?.slice(0, 20)).toEqual(Array(20).fill(SELECTED));
    expect(listGrounds(live)).toEqual([...Array(4).fill(at("#0a5c96")), ...whole.slice(4)]);
  });

  it("inverts a selected row on its own colours, not on those of the terminal", async () => {
    const contrast = getTheme("contrast", "24bit", false, true);
    const [line] = await showSurface([{ cells, selection: "focused" }], contrast);
    const styles = line?.slice(1, 20).map(({ fg, bg, isInverse }) => [fg, bg, isInverse]);
    expect(styles).toEqual(Array(19).fill([0, at("#ffffff"), true]));
  });

  it.each(["ansi", "mono"] as const)("has the terminal's ground in %s", async (name) => {
    const lines = await showSurface([{ cells }], getTheme(name, "16", false));
    expect(lines.flatMap((line) => listGrounds(line))).toEqual(Array(lines.length * 60).fill(-1));
  });

  it("keeps its ground under an overlay, where all texts are quiet and nothing has the focus", async () => {
    const rows: RowModel[] = [{ cells }, { cells, selection: "focused" }];
    const [line, selected] = await showSurface(rows, shadeTheme(dark));
    const dimmed = at("#8f8f8f");
    for (const shown of [line, selected]) {
      expect(listGrounds(shown)).toEqual(whole);
      expect(new Set(shown?.slice(2, 17).map(({ fg }) => fg))).toEqual(new Set([dimmed]));
    }
    expect(selected?.[0]).toMatchObject({ char: "▎", fg: at("#5a5a60") });
    const [title] = await showSurface([{ cells }], shadeTheme(dark), "titleRowFocused");
    expect(title?.[19]?.bg).toBe(at("#26262a"));
  });
});
