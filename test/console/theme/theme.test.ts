/** The looks and symbols of themes, and the choice of the theme. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { buildGridSpans } from "../../../src/cli/commands/see/grid.ts";
import type { TableColumn } from "../../../src/cli/views/view.ts";
import { ROLES, type StyleRole, SURFACES } from "../../../src/console/theme/palettes.ts";
import {
  ASCII,
  chooseTheme,
  dependsOnBackground,
  detectColourDepth,
  dimTheme,
  getTheme,
  shadeTheme,
  type Theme,
  toAscii,
  UNICODE,
} from "../../../src/console/theme/theme.ts";
import { computeDisplayWidth } from "../../../src/core/base/display-width.ts";

const dark = getTheme("dark", "24bit", false);

it("has no colours at all in mono", () => {
  const theme = getTheme("mono", "24bit", false);
  for (const role of ROLES) {
    const { fg, bg } = theme.getLook(role)?.style ?? {};
    expect([fg, bg], role).toEqual([undefined, undefined]);
  }
});

it("tells what matters apart without colours", () => {
  const theme = getTheme("mono", "16", false);
  const listLooks = (roles: StyleRole[]) => new Set(roles.map((role) => JSON.stringify(theme.getLook(role))));
  expect(listLooks(["selected", "selectedUnfocused", "plain"])).toHaveLength(3);
  expect(listLooks(["titleFocused", "title"])).toHaveLength(2);
  expect(listLooks(["tabActive", "tab"])).toHaveLength(2);
  expect(listLooks(["barLive", "barAway"])).toHaveLength(2);
  expect(listLooks(["match", "plain"])).toHaveLength(2);
  expect(new Set(Object.values(theme.signs.marks))).toHaveLength(5);
});

it("leaves the terminal its own ground where colours are the terminal's own", () => {
  for (const name of ["ansi", "mono"] as const)
    for (const role of [...SURFACES, "text", "field"] as const) {
      const { fg, bg } = getTheme(name, "16", false).getLook(role)?.style ?? {};
      expect([fg, bg], `${name} ${role}`).toEqual([undefined, undefined]);
    }
});

it.each([dimTheme, shadeTheme])("quietens texts, and the bars still tell the state: %o", (quieten) => {
  const theme = quieten(dark);
  for (const role of ["held", "problem", "heading"] as const)
    expect(theme.getLook(role), role).not.toEqual(dark.getLook(role));
  for (const role of ["bar", "barLive", "barAway", "barPast", "badgeReadOnly"] as const)
    expect(theme.getLook(role), role).toEqual(dark.getLook(role));
  const grounds = (one: Theme) => SURFACES.map((role) => one.getLook(role)?.ground);
  expect(theme.getLook("border")).toEqual(dark.getLook("border"));
  const ground = quieten === dimTheme ? "titleRowFocused" : "titleRow";
  expect(grounds(theme)).toEqual(grounds(dark).with(4, dark.getLook(ground)?.ground));
});

it("shows which tab is active in data that is out of date, too", () => {
  for (const name of ["dark", "contrast", "ansi", "mono"] as const) {
    const theme = dimTheme(getTheme(name, "24bit", false));
    expect(theme.getLook("tabActive"), name).not.toEqual(theme.getLook("tab"));
  }
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
  test.each([
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

  it("follows the background that the terminal has reported, not the environment", () => {
    const light = { ...COLOURS, COLORFGBG: "0;15" };
    expect(named(chooseTheme("auto", COLOURS, false, { isLight: true }))).toBe("light");
    expect(named(chooseTheme("auto", light, false, { isLight: false }))).toBe("dark");
    expect(named(chooseTheme("auto", { TERM: "xterm" }, false, { isLight: true }))).toBe("ansi");
    expect(
      named(
        chooseTheme("auto", { ...COLOURS, NO_COLOR: "1" }, false, { isLight: true, hasAllColours: true }),
      ),
    ).toBe("mono");
    const look = (isLight?: boolean) => chooseTheme("contrast", COLOURS, false, { isLight }).getLook("held");
    expect(look(true)).not.toEqual(look(false));
    expect(look()).toEqual(look(false));
    expect([COLOURS, { TERM: "xterm" }, { ...COLOURS, NO_COLOR: "1" }].map(dependsOnBackground)).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("is found by its name, as a state may have kept it", () => {
    const find = (name: string) => chooseTheme(name, COLOURS);
    expect(["light", "auto", "solarized"].map((name) => find(name).name)).toEqual(["light", "dark", "dark"]);
    expect(find("light")).toBe(find("light"));
  });

  test.each([
    [{ TERM: "tmux-256color" }, "256"],
    [{ TERM: "xterm-direct" }, "24bit"],
    [{ TERM: "xterm-256color", COLORTERM: "24bit" }, "24bit"],
    [{ TERM: "rxvt" }, "16"],
  ])("%j has %s colours", (env, depth) => expect(detectColourDepth(env)).toBe(depth));

  it("has the colours of the terminal where there are few", () => {
    const { open, close } = getTheme("ansi", "16", false).getLook("barLive") ?? {};
    expect([open, close]).toEqual(["\x1b[97m\x1b[44m", "\x1b[49m\x1b[39m"]);
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
});
