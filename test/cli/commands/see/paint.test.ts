import { describe, expect, test } from "vitest";
import { parseSpans } from "../../../../fixtures/console/parse-spans.ts";
import {
  detectOutputStyle,
  isUtf8,
  paintSpans,
  paintText,
  trimSpans,
} from "../../../../src/cli/commands/see/paint.ts";
import type { CommandIo } from "../../../../src/cli/frame/command.ts";
import type { Tone } from "../../../../src/site/state/subject.ts";

function detect(
  env: Record<string, string>,
  wants: { ascii?: boolean; wide?: boolean } = {},
  isTerminal = true,
) {
  const terminal = { isOutput: () => isTerminal, getSize: () => ({ columns: 80, rows: 24 }) };
  return detectOutputStyle({ env, terminal } as unknown as CommandIo, {
    ascii: false,
    wide: false,
    ...wants,
  });
}

describe("the style of the output", () => {
  test.each([
    ["a terminal", {}, {}, { colours: true, width: 80, arrow: "→" }],
    ["NO_COLOR", { NO_COLOR: "1" }, {}, { colours: false, width: 80 }],
    ["an empty NO_COLOR", { NO_COLOR: "" }, {}, { colours: true }],
    ["a dumb terminal", { TERM: "dumb" }, {}, { colours: false }],
    ["ASCII asked for", {}, { ascii: true }, { arrow: "->", marks: { held: "* " } }],
    ["a locale without UTF-8", { LANG: "C" }, {}, { arrow: "->", marks: { held: "* " } }],
    ["a locale with UTF-8", { LANG: "C.UTF-8" }, {}, { marks: { held: "● " } }],
    ["no limit on the width", {}, { wide: true }, { width: undefined }],
  ])("%s", (_, env, wants, expected) => {
    expect(detect(env, wants)).toMatchObject(expected);
  });

  test("on a pipe has neither colours nor marks nor a width", () => {
    const style = detect({}, {}, false);
    expect(style).toEqual({ colours: false, marks: undefined, width: undefined, arrow: "->" });
  });

  test.each([
    [{}, true],
    [{ LANG: "de_DE.UTF-8" }, true],
    [{ LANG: "de_DE.utf8" }, true],
    [{ LANG: "de_DE.UTF-8", LC_CTYPE: "C" }, false],
    [{ LANG: "C", LC_ALL: "C.UTF-8" }, true],
    [{ LANG: "C", LC_ALL: "" }, false],
  ])("%j has UTF-8: %s", (env, expected) => {
    expect(isUtf8(env)).toBe(expected);
  });
});

describe("painting", () => {
  const colours = { ...detect({}), colours: true };
  const plain = { ...colours, colours: false };
  test.each([
    ["held", "x", colours, "\x1b[32mx\x1b[0m"],
    ["problem", "x", colours, "\x1b[31mx\x1b[0m"],
    ["plain", "x", colours, "x"],
    ["held", "  ", colours, "  "],
    ["held", "x", plain, "x"],
  ] as const)("%s %j", (tone, text, style, expected) => {
    expect(paintText(text, tone, style)).toBe(expected);
  });

  test("a heading is bold, and a piece without a role is left as it is", () => {
    const spans = parseSpans<Tone | "heading">("{heading}NAME{}  {held}x");
    expect(paintSpans(spans, colours)).toBe("\x1b[1mNAME\x1b[0m  \x1b[32mx\x1b[0m");
    expect(paintSpans(spans, plain)).toBe("NAME  x");
  });

  test("blanks at the end of a line go, unless they are painted", () => {
    const spans = parseSpans<Tone>("{held}x {}  {quiet}  ");
    expect(trimSpans(spans, colours)).toEqual(parseSpans("{held}x "));
    expect(trimSpans(spans, plain)).toEqual(parseSpans("{held}x"));
    expect(trimSpans(parseSpans<Tone>("  "), plain)).toEqual([]);
  });
});
