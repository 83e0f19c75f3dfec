import { displayWidth } from "../../base/text.ts";

/** A column with the texts of its cells, made fit for a terminal. */
export interface Strip {
  title: string;
  priority: number;
  /** Never cut: numbers, and words of which a part says nothing. */
  isWhole: boolean;
  texts: readonly string[];
  /** No narrower than this, in columns: what it was before, where nothing is to jump. */
  least?: number | undefined;
  /** Shorter texts of the same cells, where the column has some. */
  briefs?: readonly string[] | undefined;
}

/** A column that is shown, and how wide. */
export type Fitted<S> = S & { width: number };

/** Between two columns. */
export const GAP = 2;
/** A column is cut to no less than this; and one that is no wider than the second is not worth cutting. */
const SHORTEST = 10;
const SMALL = 14;
/** A column that is this wide is wide enough, if others find room then: those that matter, and those that matter less. */
const ENOUGH = 20;
const AMPLE = 32;
/** The share of its cells that a column must show whole before others are left out for it. */
const MOST = 0.8;
/** Columns that matter up to this are worth that cells are written shorter. */
const CORE = 4;

/**
 * Which columns are shown and how wide: as wide as they need be; where there is no room, cells in their short form, then
 * without the columns of least weight, then with the widest cut. Numbers are never cut.
 * @param width     columns of the terminal; undefined for as many as it takes
 * @param keepsAll  none is left out: they were asked for by name
 */
export function fitted<S extends Strip>(
  strips: readonly S[],
  width: number | undefined,
  keepsAll: boolean,
): Fitted<S>[] {
  const whole = strips.map(measured);
  if (width === undefined || total(whole) <= width) return whole;
  const core = strips.filter(({ priority }) => keepsAll || priority <= CORE);
  const isTight = comfort(core, ENOUGH) > width;
  const written = isTight ? strips.map(shortened) : strips;
  const shown = keepsAll ? written : without(without(written, width, CORE, AMPLE), width, 1, ENOUGH);
  return cut(shown.map(measured), width);
}

/** Leaves out columns, those of least weight first, until the others have room; none that matters up to `spared`. */
function without<S extends Strip>(
  strips: readonly S[],
  width: number,
  spared: number,
  most: number,
): readonly S[] {
  let shown = strips;
  while (comfort(shown, most) > width) {
    const least = shown.reduce((worst, strip) => (strip.priority >= worst.priority ? strip : worst));
    if (least.priority <= spared) break;
    shown = shown.filter((strip) => strip !== least);
  }
  return shown;
}

function shortened<S extends Strip>(strip: S): S {
  return strip.briefs === undefined ? strip : { ...strip, texts: strip.briefs };
}

function measured<S extends Strip>(strip: S): Fitted<S> {
  const start = Math.max(displayWidth(strip.title), strip.least ?? 0);
  const width = strip.texts.reduce((most, text) => Math.max(most, displayWidth(text)), start);
  return { ...strip, width };
}

function total(strips: readonly { width: number }[]): number {
  return strips.reduce((sum, { width }) => sum + width, GAP * (strips.length - 1));
}

/** How much room columns need to show most of what they have. */
function comfort(strips: readonly Strip[], most: number): number {
  return total(strips.map((strip) => ({ width: enough(strip, most) })));
}

function enough(strip: Strip, most: number): number {
  const { title, texts, isWhole } = strip;
  const own = measured(strip).width;
  if (isWhole) return own;
  const sorted = texts.filter((text) => text.trim() !== "").map(displayWidth);
  sorted.sort((a, b) => a - b);
  const usual = sorted[Math.max(0, Math.ceil(sorted.length * MOST) - 1)] ?? 0;
  // What a row is called tells it from others: `db1.example.com_cpu` and `db1.example.com_mem` cut are the same.
  const limit = strip.priority <= 1 ? AMPLE : most;
  return Math.max(title.length, Math.min(own, Math.max(SMALL, Math.min(usual, limit))));
}

/** Columns cut to fit: the very wide ones; then to what is enough, those of least weight first; then as far as it takes. */
function cut<S extends Strip>(strips: readonly Fitted<S>[], width: number): Fitted<S>[] {
  const weights = [...new Set(strips.map(({ priority }) => priority))].sort((a, b) => b - a);
  const least = (most: number) => (strip: Fitted<S>) =>
    strip.isWhole ? strip.width : Math.min(strip.width, most);
  const steps = weights.map(
    (weight) => (strip: Fitted<S>) => (strip.priority === weight ? enough(strip, ENOUGH) : strip.width),
  );
  return [least(AMPLE), ...steps, least(SHORTEST)].reduce(
    (shown, floor) => cutTo(shown, width, floor),
    [...strips],
  );
}

/** Cuts the column that is widest, down to its floor, again and again, until all fit or none can be cut. */
function cutTo<S extends Strip>(
  strips: readonly Fitted<S>[],
  width: number,
  floor: (strip: Fitted<S>) => number,
): Fitted<S>[] {
  const shown = strips.map((strip) => ({ strip, width: strip.width, least: floor(strip) }));
  for (let over = total(shown) - width; over > 0; over = total(shown) - width) {
    const [widest, next] = shown.filter((one) => one.width > one.least).sort((a, b) => b.width - a.width);
    if (widest === undefined) break;
    const step = Math.max(1, widest.width - Math.max(next?.width ?? 0, widest.least));
    widest.width = Math.max(widest.least, widest.width - Math.min(over, step));
  }
  return shown.map(({ strip, width: own }) => ({ ...strip, width: own }));
}
