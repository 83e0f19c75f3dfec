import type { Style } from "./roles.ts";

/** Number of colours of a terminal. */
export type ColourDepth = "24bit" | "256" | "16";

/** The SGR codes of a style. */
export interface SgrCodes {
  on: string;
  /** Resets only what `on` has set, so that a surrounding style stays. */
  off: string;
  /** By reset code: the codes that restore this style after it. */
  again: ReadonlyMap<string, string>;
}

/** Matches a sequence that sets colours or weight. */
const SGR = /\x1b\[([0-9;:]*)m/g;
/** The code that resets everything. */
const ALL_OFF = "0";

/** Builds the codes of a style for a colour depth. */
export function buildSgrCodes(style: Style, depth: ColourDepth): SgrCodes {
  const parts = listSgrParts(style, depth);
  if (parts.length === 0) return { on: "", off: "", again: new Map() };
  const again = new Map<string, string>();
  for (const [on, off] of parts) again.set(off, [again.get(off), on].filter(Boolean).join(";"));
  return {
    on: `\x1b[${parts.map(([on]) => on).join(";")}m`,
    off: `\x1b[${[...again.keys()].join(";")}m`,
    again: new Map([...again, [ALL_OFF, parts.map(([on]) => on).join(";")]]),
  };
}

/** Lists the code that sets each part of a style, and the code that resets it. */
function listSgrParts(
  { fg, bg, bg256, bold, dim, inverse, underline }: Style,
  depth: ColourDepth,
): [on: string, off: string][] {
  const parts: [string, string][] = [];
  if (bold) parts.push(["1", "22"]);
  if (dim) parts.push(["2", "22"]);
  if (underline) parts.push(["4", "24"]);
  if (inverse) parts.push(["7", "27"]);
  if (fg !== undefined) parts.push([formatColour(fg, depth, 30), "39"]);
  if (bg !== undefined)
    parts.push([formatColour((depth === "256" ? bg256 : undefined) ?? bg, depth, 40), "49"]);
  return parts;
}

/** @param base  30 for the foreground, 40 for the background */
function formatColour(of: number | string, depth: ColourDepth, base: 30 | 40): string {
  if (typeof of === "number" && of < 16) return String(of < 8 ? base + of : base + 52 + of);
  if (typeof of === "number") return `${base + 8};5;${of}`;
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(of.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ];
  return depth === "24bit" ? `${base + 8};2;${r};${g};${b}` : `${base + 8};5;${findNearest256(r, g, b)}`;
}

/** Applies a style to a text. Styles inside the text stay; where they end, this style continues. */
export function applySgr({ on, off, again }: SgrCodes, text: string): string {
  if (on === "" || text === "") return text;
  const inner = text.includes("\x1b")
    ? text.replace(SGR, (whole, codes) => resumeSgr(whole, codes, again))
    : text;
  return on + inner + off;
}

/** Adds the codes that restore the outer style after a reset inside the text. */
function resumeSgr(sequence: string, codes: string, again: SgrCodes["again"]): string {
  const each = codes === "" ? [ALL_OFF] : codes.split(";");
  if (!each.every(isOff)) return sequence;
  const own = new Set(each.map((code) => again.get(code)).filter((code) => code !== undefined));
  return own.size === 0 ? sequence : `${sequence}\x1b[${[...own].join(";")}m`;
}

function isOff(code: string): boolean {
  return [ALL_OFF, "22", "24", "27", "39", "49"].includes(code);
}

/** Removes colours from a text. Bold and underlined text stays so. */
export function removeColours(painted: string): string {
  return painted.replace(SGR, (_, codes: string) => {
    const kept = codes
      .replace(/[34]8;(?:5;\d+|2;\d+;\d+;\d+)/g, "")
      .split(";")
      .filter((code) => ["1", "4", "22", "24"].includes(code));
    return kept.length === 0 ? "" : `\x1b[${kept.join(";")}m`;
  });
}

/** Levels of each component in the colour cube of the 256 colours. */
const LEVELS = [0, 95, 135, 175, 215, 255];

/** Returns the nearest of the 256 colours that users do not redefine: those of the cube and the greys. */
export function findNearest256(r: number, g: number, b: number): number {
  const [cr, cg, cb] = [findNearestLevel(r), findNearestLevel(g), findNearestLevel(b)];
  const grey = Math.max(0, Math.min(23, Math.round(((r + g + b) / 3 - 8) / 10)));
  const computeDistance = (x: number, y: number, z: number) => (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2;
  const cube = computeDistance(LEVELS[cr] ?? 0, LEVELS[cg] ?? 0, LEVELS[cb] ?? 0);
  const level = 8 + 10 * grey;
  return computeDistance(level, level, level) < cube ? 232 + grey : 16 + 36 * cr + 6 * cg + cb;
}

function findNearestLevel(value: number): number {
  const computeOffset = (at: number) => Math.abs((LEVELS[at] ?? 0) - value);
  return LEVELS.reduce((best, _, at) => (computeOffset(at) < computeOffset(best) ? at : best), 0);
}
