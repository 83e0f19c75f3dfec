/** Rendering of themes in a terminal: nested styles, rows and symbols; and the choice of the theme. */
import xterm from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { computeDisplayWidth, computeStyledWidth } from "../../../src/base/display-width.ts";
import { stripStyles } from "../../../src/base/text.ts";
import { buildGridSpans } from "../../../src/commands/see/grid.ts";
import { ROLES, type StyleRole } from "../../../src/console/theme/roles.ts";
import { ASCII, toAscii, UNICODE } from "../../../src/console/theme/signs.ts";
import {
  chooseTheme,
  createThemeLookup,
  dependsOnBackground,
  detectColourDepth,
  getTheme,
  THEMES,
  type Theme,
} from "../../../src/console/theme/theme.ts";
import type { TableColumn } from "../../../src/views/view.ts";

const dark = getTheme("dark", "24bit", false);
const at = (hex: string) => Number.parseInt(hex.slice(1), 16);
const [SELECTED, GREEN, YELLOW] = [at("#04395e"), at("#6cc58a"), at("#e2b34c")];

interface Cell {
  char: string;
  fg: number;
  bg: number;
  isBold: boolean;
  isInverse: boolean;
}

/** A painted line, as a terminal shows it. */
async function cellsOf(line: string): Promise<Cell[]> {
  const terminal = new xterm.Terminal({ cols: 60, rows: 2, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(line, done));
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

/** Codes that are still on behind a painted text. */
function leftOn(painted: string): string[] {
  const on = new Map<string, string>();
  for (const [, codes = ""] of painted.matchAll(/\x1b\[([0-9;]*)m/g))
    for (const [code] of codes.matchAll(/[34]8;5;\d+|\d+/g)) {
      const off = { 22: "1 2", 24: "4", 27: "7", 39: "3", 49: "4x" }[code];
      for (const gone of off?.split(" ") ?? []) on.delete(gone);
      if (off === undefined)
        on.set(/^(38|3\d$|9\d$)/.test(code) ? "3" : /^(48|4\d$|10\d$)/.test(code) ? "4x" : code, code);
    }
  return [...on.values()];
}

describe("styles in each other", () => {
  it("end where they end, and what is around them goes on", async () => {
    const cells = await cellsOf(`${dark.style("held", `a${dark.style("match", "b")}c`)}d`);
    expect(cells.slice(0, 4).map(({ char, fg, isBold }) => [char, fg, isBold])).toEqual([
      ["a", GREEN, false],
      ["b", at("#79b8ff"), true],
      ["c", GREEN, false],
      ["d", -1, false],
    ]);
  });

  it("keep their letters, and leave nothing behind, however deep", () => {
    const roles = fc.constantFrom(...ROLES);
    const themes = fc.constantFrom(...THEMES.map((name) => getTheme(name, "256", false)));
    fc.assert(
      fc.property(themes, fc.array(fc.tuple(roles, fc.string({ maxLength: 3 }), roles)), (theme, parts) => {
        const text = parts.map(([, letters]) => letters).join("");
        const nested = parts.reduceRight(
          (inner, [outer, letters, own]) => theme.style(outer, theme.style(own, letters) + inner),
          "",
        );
        expect(stripStyles(nested)).toBe(text);
        expect(leftOn(nested)).toEqual([]);
      }),
    );
  });
});

describe("a row", () => {
  const line = `${dark.style("held", "● held")}  ${dark.style("match", "in")}voices`;

  it("that is selected has one background from end to end, and its cells keep their colours", async () => {
    const cells = await cellsOf(dark.styleRow(line, { isSelected: true, isFocused: true, width: 20 }));
    expect(new Set(cells.slice(0, 20).map(({ bg }) => bg))).toEqual(new Set([SELECTED]));
    expect(cells[20]?.bg).toBe(-1);
    expect([cells[0]?.fg, cells[9]?.isBold, cells[10]?.isBold]).toEqual([GREEN, true, false]);
    expect(cells[10]?.fg).toBe(at("#ffffff")); // whatever the terminal's own colour of letters is
  });

  it("that is marked and selected shows both", async () => {
    const state = { isSelected: true, isFocused: true, isMarked: true, width: 20 };
    const cells = await cellsOf(dark.styleRow(line, state));
    expect([cells[0]?.fg, cells[11]?.fg, cells[11]?.bg]).toEqual([GREEN, YELLOW, SELECTED]);
  });

  it("keeps the background behind a badge", async () => {
    const badge = `${dark.style("barLive", "x")}yz`;
    const cells = await cellsOf(dark.styleRow(badge, { isSelected: true, isFocused: true, width: 4 }));
    expect(cells.slice(0, 4).map(({ bg }) => bg)).toEqual([at("#0a5c96"), SELECTED, SELECTED, SELECTED]);
  });

  it.each(["ansi", "mono"] as const)("is inverted as a whole in %s", async (name) => {
    const theme = getTheme(name, "16", false);
    const inner = `${theme.style("problem", "● lost")}  ${theme.style("barLive", "b")}`;
    const cells = await cellsOf(theme.styleRow(inner, { isSelected: true, isFocused: true, width: 12 }));
    const looks = cells.slice(0, 12).map(({ isInverse, fg, bg }) => `${isInverse} ${fg} ${bg}`);
    expect(new Set(looks)).toEqual(new Set(["true -1 -1"]));
  });

  it("is left as it is where it does not stand out", () => {
    expect(dark.styleRow(line, { isSelected: false, isFocused: true, width: 20 })).toBe(line);
  });
});

it("has no colours at all in mono", () => {
  const theme = getTheme("mono", "24bit", false);
  for (const role of ROLES)
    expect(theme.style(role, "x"), role).toMatch(/^(\x1b\[(?:[147]|2[247])(;([147]|2[247]))*m|x)+$/);
});

it("tells what matters apart without colours", () => {
  const theme = getTheme("mono", "16", false);
  const looks = (roles: StyleRole[]) => new Set(roles.map((role) => theme.style(role, "x")));
  expect(looks(["selected", "selectedUnfocused", "plain"])).toHaveLength(3);
  expect(looks(["titleFocused", "title"])).toHaveLength(2);
  expect(looks(["tabActive", "tab"])).toHaveLength(2);
  expect(looks(["barLive", "barAway"])).toHaveLength(2);
  expect(looks(["match", "plain"])).toHaveLength(2);
  expect(new Set(Object.values(theme.signs.marks))).toHaveLength(5);
});

it("gives tables the marks of its signs, and leaves their colours to the roles of the cells", () => {
  const column: TableColumn<string> = {
    id: "name",
    title: "NAME",
    priority: 1,
    formatCell: (row) => row,
    getTone: () => "held",
    isMarked: true,
  };
  const { head, rows } = buildGridSpans(
    { columns: [column], rows: ["invoices"], wall: 0 },
    dark.createLook(40),
  );
  expect(head).toEqual([{ text: "NAME", role: "heading" }]);
  expect(rows).toEqual([[[{ text: "● invoices", role: "held" }]]]);
});

const COLOURS = { TERM: "xterm-256color", COLORTERM: "truecolor", LANG: "en_US.UTF-8" };
describe("the theme of a terminal", () => {
  const named = ({ name, signs }: Theme) => `${name}${signs.isAscii ? " ascii" : ""}`;
  test.each<[NodeJS.ProcessEnv, string]>([
    [COLOURS, "dark"],
    [{ ...COLOURS, COLORFGBG: "15;0" }, "dark"],
    [{ ...COLOURS, COLORFGBG: "0;15" }, "light"],
    [{ ...COLOURS, COLORFGBG: "0;default;15" }, "light"],
    [{ ...COLOURS, COLORFGBG: "0;7" }, "light"],
    [{ ...COLOURS, COLORFGBG: "7;8" }, "dark"],
    [{ ...COLOURS, COLORFGBG: "default;default" }, "dark"],
    [{ ...COLOURS, NO_COLOR: "1" }, "mono"],
    [{ ...COLOURS, NO_COLOR: "" }, "dark"],
    [{ TERM: "xterm" }, "ansi"],
    [{ TERM: "linux" }, "ansi"],
    [{ TERM: "screen" }, "ansi"],
    [{ TERM: "vt100" }, "mono"],
    [{ TERM: "vt220" }, "mono"],
    [{ TERM: "xterm-mono" }, "mono"],
    [{ TERM: "dumb" }, "mono"],
    [{}, "mono"],
    [{ ...COLOURS, LANG: "C" }, "dark ascii"],
    [{ ...COLOURS, LC_ALL: "POSIX" }, "dark ascii"],
    [{ ...COLOURS, LANG: "" }, "dark"],
  ])("%j is %s", (env, theme) => {
    expect(named(chooseTheme("auto", env))).toBe(theme);
  });

  it("is the one asked for, as far as the terminal can show it", () => {
    expect(named(chooseTheme("light", COLOURS))).toBe("light");
    expect(named(chooseTheme("light", { TERM: "xterm" }))).toBe("ansi");
    expect(named(chooseTheme("light", { ...COLOURS, NO_COLOR: "1" }))).toBe("mono");
    expect(named(chooseTheme("mono", COLOURS, true))).toBe("mono ascii");
  });

  it("follows the background that the terminal has told, whatever its environment says", () => {
    const light = { ...COLOURS, COLORFGBG: "0;15" };
    expect(named(chooseTheme("auto", COLOURS, false, { isLight: true }))).toBe("light");
    expect(named(chooseTheme("auto", light, false, { isLight: false }))).toBe("dark");
    expect(named(chooseTheme("auto", { TERM: "xterm" }, false, { isLight: true }))).toBe("ansi");
    expect(named(chooseTheme("auto", { ...COLOURS, NO_COLOR: "1" }, false, { isLight: true }))).toBe("mono");
    const paint = (isLight?: boolean) =>
      chooseTheme("contrast", COLOURS, false, { isLight }).style("held", "x");
    expect(paint(true)).not.toBe(paint(false));
    expect(paint()).toBe(paint(false));
    expect([COLOURS, { TERM: "xterm" }, { ...COLOURS, NO_COLOR: "1" }].map(dependsOnBackground)).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("takes few bytes on a slow line, and keeps the colours that were asked for", () => {
    const slow = (wanted: "auto" | "contrast" | "mono") =>
      chooseTheme(wanted, { ...COLOURS, COLORTERM: "truecolor" }, false, { isSlow: true });
    expect(slow("auto").style("waiting", "x")).toBe("\x1b[33mx\x1b[39m");
    expect(slow("auto").signs.horizontal).toBe("-");
    expect(slow("auto").signs.vertical).toBe("│");
    expect(slow("contrast").style("waiting", "x")).toMatch(/^\x1b\[38;5;\d+mx\x1b\[39m$/);
    expect(named(slow("mono"))).toBe("mono");
  });

  it("is found by its name, as a state may have kept it", () => {
    const find = createThemeLookup({ env: COLOURS }, { ascii: false });
    expect(["light", "auto", "solarized"].map((name) => find(name).name)).toEqual(["light", "dark", "dark"]);
    expect(find("light")).toBe(find("light"));
  });

  test.each([
    [{ TERM: "tmux-256color" }, "256"],
    [{ TERM: "xterm-direct" }, "24bit"],
    [{ TERM: "xterm-256color", COLORTERM: "24bit" }, "24bit"],
    [{ TERM: "rxvt" }, "16"],
  ])("%j has %s colours", (env, depth) => expect(detectColourDepth(env)).toBe(depth));

  it("uses no colours that the terminal has not named", () => {
    expect(getTheme("dark", "256", false).style("held", "x")).toBe("\x1b[38;5;78mx\x1b[39m");
    expect(getTheme("ansi", "16", false).style("barLive", "x")).toBe("\x1b[97;44mx\x1b[39;49m");
  });
});

describe("signs", () => {
  it("are ASCII's where they must be", () => {
    expect(JSON.stringify(ASCII)).toMatch(/^[ -~]*$/);
    expect(Object.keys(ASCII)).toEqual(Object.keys(UNICODE));
  });

  it("are replaced in a line by what is as wide", () => {
    expect(toAscii("web1… – 3 · → ü 日 \x1b[1mx")).toBe("web1~ - 3 - > ? ?? \x1b[1mx");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(toAscii(text)).toMatch(/^[\x00-\x7f]*$/);
        expect(computeDisplayWidth(toAscii(text))).toBe(computeDisplayWidth(text));
      }),
    );
    expect(getTheme("dark", "256", true).finishLine("…")).toBe("~");
    expect(dark.finishLine("…")).toBe("…");
  });

  it("are counted by their columns, not by what paints them", () => {
    expect(computeStyledWidth(dark.style("held", "● 日"))).toBe(4);
  });
});
