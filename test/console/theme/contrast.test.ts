/** WCAG contrast of all texts in the themes with fixed colours. */
import { describe, expect, it } from "vitest";
import { contrastDark, contrastLight, dark, light } from "../../../src/console/theme/palettes.ts";
import { ROLES, type Style, type StyleRole, type ThemePalette } from "../../../src/console/theme/roles.ts";
import { findNearest256 } from "../../../src/console/theme/sgr.ts";

/** Roles of lines, which need no contrast. */
const LINES: readonly StyleRole[] = ["border", "accent"];
/** Minimum contrast of small text, WCAG 2 AA. */
const READABLE = 4.5;
/** The same of WCAG 2 AAA, for high contrast. */
const CONTRASTING = 7;

const rgb = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** A colour of the 256, from xterm's table. */
function of256(at: number): string {
  const levels = [0, 95, 135, 175, 215, 255];
  const cube = [36, 6, 1].map((step) => levels[Math.floor((at - 16) / step) % 6] ?? 0);
  const shown = at >= 232 ? Array<number>(3).fill(8 + 10 * (at - 232)) : cube;
  return `#${shown.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

function nearest(hex: string): string {
  const [r = 0, g = 0, b = 0] = rgb(hex);
  return of256(findNearest256(r, g, b));
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = rgb(hex).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [more = 0, less = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (more + 0.05) / (less + 0.05);
}

type Ground = Pick<Style, "bg" | "bg256">;

describe.each<[string, ThemePalette, string[], string, number]>([
  ["dark", dark, ["#000000", "#1e1e1e"], "#cccccc", READABLE],
  ["light", light, ["#ffffff", "#f3f3f3"], "#333333", READABLE],
  ["contrast (dark)", contrastDark, ["#000000", "#1e1e1e"], "#ffffff", CONTRASTING],
  ["contrast (light)", contrastLight, ["#ffffff"], "#000000", CONTRASTING],
])("the %s theme", (_, palette, screens, usual, least) => {
  const { selected, selectedUnfocused, field } = palette;
  const grounds: Ground[] = [...screens.map((bg) => ({ bg })), selected, selectedUnfocused, field].filter(
    ({ bg }) => bg !== undefined,
  );
  it.each(ROLES.filter((role) => !LINES.includes(role)))("can be read: %s", (role) => {
    const style = palette[role];
    const fg = String(style.fg ?? usual);
    for (const { bg, bg256 } of style.bg === undefined ? grounds : [style]) {
      expect(contrast(fg, String(bg)), `${fg} on ${bg}`).toBeGreaterThanOrEqual(least);
      const [few, fewGround] = [nearest(fg), bg256 ? of256(bg256) : nearest(String(bg))];
      expect(contrast(few, fewGround), `${few} on ${fewGround} of 256`).toBeGreaterThanOrEqual(least);
    }
  });
});

it("computes what everybody computes", () => {
  expect(contrast("#ffffff", "#000000")).toBe(21);
  expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 2);
});
