/** WCAG contrast of all texts in the themes with fixed colours, and the grounds that can be told apart. */
import { describe, expect, it } from "vitest";
import {
  contrastDark,
  contrastLight,
  dark,
  light,
  ROLES,
  type StyleRole,
  SURFACES,
  type ThemePalette,
} from "../../../src/console/theme/palettes.ts";
import { findNearest256 } from "../../../src/console/theme/theme.ts";

/** Roles of lines, which need no contrast. */
const LINES: readonly StyleRole[] = ["border", "accent", "track"];
/** Minimum contrast of small text, WCAG 2 AA. */
const READABLE = 4.5;
/** The same of WCAG 2 AAA, for high contrast. */
const CONTRASTING = 7;

const rgb = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** A colour of the 256, from xterm's table. */
function of256(at: number) {
  const levels = [0, 95, 135, 175, 215, 255];
  const cube = [36, 6, 1].map((step) => levels[Math.floor((at - 16) / step) % 6] ?? 0);
  const shown = at >= 232 ? Array<number>(3).fill(8 + 10 * (at - 232)) : cube;
  return `#${shown.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

const reduce = (hex: string) => of256(findNearest256(hex));

function luminance(hex: string) {
  const [r = 0, g = 0, b = 0] = rgb(hex).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string) {
  const [more = 0, less = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (more + 0.05) / (less + 0.05);
}

/** Grounds that have texts of any role on them. */
const GROUNDS: readonly StyleRole[] = [...SURFACES, "selected", "selectedUnfocused", "field"];
/** Of these, the ones of the page under an overlay. */
const SHADED: readonly StyleRole[] = ["editor", "sidebar", "panel", "titleRow", "tabStrip"];

describe.each<[string, ThemePalette, string, number]>([
  ["dark", dark, "#000000", READABLE],
  ["light", light, "#ffffff", READABLE],
  ["contrast (dark)", contrastDark, "#000000", CONTRASTING],
  ["contrast (light)", contrastLight, "#ffffff", CONTRASTING],
])("the %s theme", (_, palette, screen, least) => {
  const listGrounds = (roles: readonly StyleRole[]) => [
    screen,
    ...roles.flatMap((role) => palette[role]?.bg ?? []).map(String),
  ];
  it.each(ROLES.filter((role) => !LINES.includes(role)))("can be read: %s", (role) => {
    const { fg = palette.editor?.fg, bg } = palette[role] ?? {};
    const grounds = bg === undefined ? listGrounds(role === "dimmed" ? SHADED : GROUNDS) : [String(bg)];
    for (const ground of grounds) {
      expect(contrast(String(fg), ground), `${fg} on ${ground}`).toBeGreaterThanOrEqual(least);
      const [letters, reduced] = [reduce(String(fg)), reduce(ground)];
      expect(contrast(letters, reduced), `${letters} on ${reduced} of 256`).toBeGreaterThanOrEqual(least);
    }
  });

  it("paints a ground beneath every text", () => {
    for (const role of [...SURFACES, "bar"] as const)
      expect(palette[role], role).toMatchObject({ bg: expect.any(String) });
    expect(palette.editor, "what all others are on").toMatchObject({ fg: expect.any(String) });
  });
});

describe.each([
  ["dark", dark],
  ["light", light],
])("the grounds of the %s theme", (_, palette) => {
  const getGround = (role: StyleRole) => String(palette[role]?.bg);
  it.each<StyleRole[]>([
    ["editor", "sidebar", "titleRow", "titleRowFocused", "tabActive"],
    ["editor", "panel", "bar", "field"],
    ["editor", "sidebar", "overlay", "field", "selected"],
    ["tabStrip", "tabActive", "titleRowFocused"],
    ["editor", "selected", "selectedUnfocused"],
    ["bar", "barLive", "barAway", "barPast"],
  ])("are told apart, with 256 colours too: %s, %s, %s …", (...roles) => {
    const grounds = roles.map(getGround);
    expect(new Set(grounds)).toHaveLength(roles.length);
    expect(new Set(grounds.map(findNearest256))).toHaveLength(roles.length);
  });
});

it("has two greys of the 256 for the grounds of VS Code", () => {
  expect(["#181818", "#1f1f1f", "#f8f8f8", "#ffffff"].map(findNearest256)).toEqual([233, 234, 255, 231]);
});

it("computes what everybody computes", () => {
  expect(contrast("#ffffff", "#000000")).toBe(21);
  expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 2);
});
