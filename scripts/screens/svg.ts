import type { Cell, Colour } from "../../fixtures/console/emulator.ts";

/** Size of a cell, px. The text is fitted into the cells with any font. */
const WIDTH = 8.4;
const HEIGHT = 17;
const MARGIN = 12;
const BACKGROUND = "#1e1e1e";
const FOREGROUND = "#d4d4d4";
const FONT = "ui-monospace,'Cascadia Mono','DejaVu Sans Mono',Menlo,Consolas,monospace";
/** The sixteen colours of the terminal's palette, for a dark background. */
const ANSI = (
  "#000000 #cd3131 #0dbc79 #e5e510 #2472c8 #bc3fbc #11a8cd #e5e5e5" +
  " #666666 #f14c4c #23d18b #f5f543 #3b8eea #d670d6 #29b8db #ffffff"
).split(" ");

interface Style {
  fill: string;
  background: string;
  isBold: boolean;
  isItalic: boolean;
  isUnderlined: boolean;
  isDim: boolean;
}

interface StyledRun {
  column: number;
  /** Width in cells, which differs from the length of the text if it has wide characters. */
  cells: number;
  text: string;
  style: Style;
}

/** Renders a screen as SVG. Text stays text. @param title  text for screen readers */
export function renderSvg(rows: readonly (readonly Cell[])[], title: string): string {
  const width = formatCoordinate((rows[0]?.length ?? 0) * WIDTH + 2 * MARGIN);
  const height = formatCoordinate(rows.length * HEIGHT + 2 * MARGIN);
  const runs = rows.map(splitRuns);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="${FONT}" font-size="14">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>text{white-space:pre}.b{font-weight:700}.i{font-style:italic}.u{text-decoration:underline}</style>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    ...runs.flatMap((row, index) => row.flatMap((run) => renderBackground(run, index))),
    ...runs.flatMap((row, index) => row.flatMap((run) => renderText(run, index))),
    "</svg>\n",
  ].join("\n");
}

function splitRuns(row: readonly Cell[]): StyledRun[] {
  const runs: StyledRun[] = [];
  for (const [column, cell] of row.entries()) {
    const last = runs.at(-1);
    const style = getStyle(cell);
    if (last !== undefined && (cell.text === "" || canExtend(last.style, style, cell.text))) {
      last.cells += 1;
      last.text += cell.text;
    } else runs.push({ column, cells: 1, text: cell.text, style });
  }
  return runs;
}

/** Whether a cell continues the style of the cells before it. The text colour of a blank does not matter. */
function canExtend(before: Style, style: Style, text: string): boolean {
  if (before.background !== style.background || before.isUnderlined !== style.isUnderlined) return false;
  return (
    text === " " ||
    (before.fill === style.fill &&
      before.isBold === style.isBold &&
      before.isItalic === style.isItalic &&
      before.isDim === style.isDim)
  );
}

function getStyle({ foreground, background, inverse, bold, italic, underline, dim }: Cell): Style {
  const colours = [toHexColour(foreground) ?? FOREGROUND, toHexColour(background) ?? BACKGROUND] as const;
  const [fill, under] = inverse ? ([colours[1], colours[0]] as const) : colours;
  return { fill, background: under, isBold: bold, isItalic: italic, isUnderlined: underline, isDim: dim };
}

/** @see xterm's 256 colours: 16 of the palette, a 6x6x6 cube, 24 greys */
function toHexColour(colour: Colour): string | undefined {
  if (typeof colour !== "number") return colour;
  if (colour < 16) return ANSI[colour];
  const levels =
    colour >= 232
      ? Array.from({ length: 3 }, () => 8 + (colour - 232) * 10)
      : [36, 6, 1]
          .map((step) => Math.floor((colour - 16) / step) % 6)
          .map((level) => (level === 0 ? 0 : 55 + level * 40));
  return `#${levels.map((level) => level.toString(16).padStart(2, "0")).join("")}`;
}

function renderBackground({ column, cells, style }: StyledRun, row: number): string[] {
  if (style.background === BACKGROUND) return [];
  const place = `x="${formatCoordinate(MARGIN + column * WIDTH)}" y="${formatCoordinate(MARGIN + row * HEIGHT)}"`;
  return [
    `<rect ${place} width="${formatCoordinate(cells * WIDTH)}" height="${HEIGHT}" fill="${style.background}"/>`,
  ];
}

/**
 * Splits text at wide gaps, and separates symbols from letters. The browser fits each piece into its cells, and a symbol
 * from another font must not stretch its neighbours.
 */
function renderText({ column, cells, text, style }: StyledRun, row: number): string[] {
  const isWide = text.length !== cells; // then the position of a piece cannot be computed from the number of letters
  if (isWide || style.isUnderlined) return [renderPiece(text, column, cells, style, row)];
  return [...text.matchAll(/[!-~]+(?: [!-~]+)*|[^ -~]+/g)].map(({ 0: piece, index }) =>
    renderPiece(piece, column + index, piece.length, style, row),
  );
}

function renderPiece(text: string, column: number, cells: number, style: Style, row: number): string {
  const names = [style.isBold && "b", style.isItalic && "i", style.isUnderlined && "u"]
    .filter(Boolean)
    .join(" ");
  const attributes = [
    `x="${formatCoordinate(MARGIN + column * WIDTH)}" y="${formatCoordinate(MARGIN + row * HEIGHT + 13)}"`,
    `textLength="${formatCoordinate(cells * WIDTH)}" lengthAdjust="spacingAndGlyphs" fill="${style.fill}"`,
    ...(names === "" ? [] : [`class="${names}"`]),
    ...(style.isDim ? ['opacity="0.6"'] : []),
  ];
  return `<text ${attributes.join(" ")} xml:space="preserve">${escapeXml(text)}</text>`;
}

const formatCoordinate = (value: number) => String(Math.round(value * 10) / 10);

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
