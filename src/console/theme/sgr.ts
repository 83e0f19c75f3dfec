import { nearestOf256 } from "./cube.ts";
import type { Style } from "./roles.ts";

/** How many colours a terminal shows. */
export type Depth = "24bit" | "256" | "16";

/** A style as a terminal is told of it. */
export interface Codes {
  on: string;
  /** Switches off just what `on` has switched on: what is around it stays. */
  off: string;
  /** By a code that switches something off: the codes that switch on again what this style has of it. */
  again: ReadonlyMap<string, string>;
}

/** Every sequence that sets colours and weight. */
const SGR = /\x1b\[([0-9;:]*)m/g;
/** Switches off everything. */
const ALL_OFF = "0";

/** The codes of a style for a terminal with so many colours. */
export function codesOf(style: Style, depth: Depth): Codes {
  const parts = partsOf(style, depth);
  if (parts.length === 0) return { on: "", off: "", again: new Map() };
  const again = new Map<string, string>();
  for (const [on, off] of parts) again.set(off, [again.get(off), on].filter(Boolean).join(";"));
  return {
    on: `\x1b[${parts.map(([on]) => on).join(";")}m`,
    off: `\x1b[${[...again.keys()].join(";")}m`,
    again: new Map([...again, [ALL_OFF, parts.map(([on]) => on).join(";")]]),
  };
}

/** What switches each part of a style on, and what off. */
function partsOf(
  { fg, bg, bg256, bold, dim, inverse, underline }: Style,
  depth: Depth,
): [on: string, off: string][] {
  const parts: [string, string][] = [];
  if (bold) parts.push(["1", "22"]);
  if (dim) parts.push(["2", "22"]);
  if (underline) parts.push(["4", "24"]);
  if (inverse) parts.push(["7", "27"]);
  if (fg !== undefined) parts.push([colour(fg, depth, 30), "39"]);
  if (bg !== undefined) parts.push([colour((depth === "256" ? bg256 : undefined) ?? bg, depth, 40), "49"]);
  return parts;
}

/** @param base  30 for the foreground, 40 for the background */
function colour(of: number | string, depth: Depth, base: 30 | 40): string {
  if (typeof of === "number" && of < 16) return String(of < 8 ? base + of : base + 52 + of);
  if (typeof of === "number") return `${base + 8};5;${of}`;
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(of.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ];
  return depth === "24bit" ? `${base + 8};2;${r};${g};${b}` : `${base + 8};5;${nearestOf256(r, g, b)}`;
}

/** A text in a style. What is painted in it already stays so; where that ends, this style goes on. */
export function wrapped({ on, off, again }: Codes, text: string): string {
  if (on === "" || text === "") return text;
  const inner = text.includes("\x1b")
    ? text.replace(SGR, (whole, codes) => resumed(whole, codes, again))
    : text;
  return on + inner + off;
}

/** A sequence within a style; behind one that switches off, the style's own is switched on again. */
function resumed(sequence: string, codes: string, again: Codes["again"]): string {
  const each = codes === "" ? [ALL_OFF] : codes.split(";");
  if (!each.every(isOff)) return sequence;
  const own = new Set(each.map((code) => again.get(code)).filter((code) => code !== undefined));
  return own.size === 0 ? sequence : `${sequence}\x1b[${[...own].join(";")}m`;
}

function isOff(code: string): boolean {
  return [ALL_OFF, "22", "24", "27", "39", "49"].includes(code);
}

/** A painted text without its colours; bold and underlined letters stay so. */
export function withoutColours(painted: string): string {
  return painted.replace(SGR, (_, codes: string) => {
    const kept = codes
      .replace(/[34]8;(?:5;\d+|2;\d+;\d+;\d+)/g, "")
      .split(";")
      .filter((code) => ["1", "4", "22", "24"].includes(code));
    return kept.length === 0 ? "" : `\x1b[${kept.join(";")}m`;
  });
}

/** A painted text's letters. */
export function unpainted(text: string): string {
  return text.includes("\x1b") ? text.replaceAll(SGR, "") : text;
}
