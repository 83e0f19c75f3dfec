import { isDeepStrictEqual } from "node:util";
import { Box, type BoxProps, Text } from "ink";
import { createContext, memo, type ReactNode, use } from "react";
import { wrapProseLines } from "../../cli/commands/see/detail.ts";
import { cleanToWidth, computeDisplayWidth } from "../../core/base/display-width.ts";
import type { StyleRole } from "./palettes.ts";
import { getTheme, type Sequences, type Theme } from "./theme.ts";

interface RowProps extends RowModel {
  /** The columns that a selected row fills. */
  width?: number;
}

/**
 * A box with the background of a role, up to its edges. Texts in it without their own background have the same one.
 * Without a role, and in themes without backgrounds, it has the background around it.
 */
export function Surface({
  ground,
  ...box
}: BoxProps & { ground: StyleRole | undefined; children?: ReactNode }) {
  const { getLook } = useTheme();
  return <Box {...box} backgroundColor={(ground && getLook(ground)?.ground) ?? ""} />;
}

/** Returns the properties of a box with lines around it, in the look of a role. */
export function useFrameLines(role: StyleRole, ground?: StyleRole): BoxProps {
  const { signs, getLook } = useTheme();
  const { letters = "", style } = getLook(role) ?? {};
  const borderBackgroundColor = (ground && getLook(ground)?.ground) ?? "";
  return {
    borderStyle: signs.frame,
    borderColor: letters,
    borderDimColor: style?.dim === true,
    borderBackgroundColor,
  };
}

/**
 * One row: a single text with the sequences of its cells' looks. The widths of cells are those of `src/core/base/text.ts`.
 * With a separate text for each cell, Ink would take three times as long for every frame.
 */
export const Row = memo(({ cells, selection, width = 0 }: RowProps) => {
  const theme = useTheme();
  return (
    <Text wrap="truncate">
      {selection === undefined
        ? formatCells(cells, theme) || " " // a text without any column would have no height
        : formatSelectedCells(cells, theme, selection, width)}
    </Text>
  );
}, isDeepStrictEqual);

function formatCells(cells: readonly RowCell[], { getLook }: Theme): string {
  const text = getLook("text");
  return cells
    .map((cell) => {
      const look = cell.role && getLook(cell.role);
      return surround(cell.text, [cell.ground && getLook(cell.ground), look ?? text]);
    })
    .join("");
}

/** @param width  the columns that the row fills */
function formatSelectedCells(
  cells: readonly RowCell[],
  { getLook, signs }: Theme,
  selection: RowSelection,
  width: number,
): string {
  const row = getLook(selection === "focused" ? "selected" : "selectedUnfocused");
  // In an inverted row, colours would become different backgrounds.
  const isInverse = row?.style.inverse === true;
  const formatCell = ({ text, role, ground }: RowCell) => {
    const look = role && getLook(role);
    if (isInverse) return surround(text, ground === "cursor" ? [look] : [row, look?.weight]);
    return surround(text, [row, ground && getLook(ground), look]);
  };
  const padding = " ".repeat(Math.max(0, width - computeCellsWidth(cells)));
  return [...addAccent(cells, selection, signs.accent), { text: padding }].map(formatCell).join("");
}

/** Surrounds a text with the sequences of looks, the outermost first. */
function surround(text: string, looks: readonly (Sequences | undefined)[]): string {
  if (text === "") return "";
  return looks.reduceRight((inner, look) => (look ? look.open + inner + look.close : inner), text);
}

/** Rows, one below the other. */
export function Rows({ rows, width }: { rows: readonly RowModel[]; width: number }) {
  return rows.map(({ id, ...row }, at) => <Row key={id ?? at} {...row} width={width} />);
}

/** The theme of all components. */
export const ThemeContext = createContext<Theme>(getTheme("mono", "16", true));

export function useTheme(): Theme {
  return use(ThemeContext);
}

/** A piece of a row: clean text, and the role that styles it. Without a role, it is not styled. */
export interface RowCell {
  text: string;
  role?: StyleRole | undefined;
  /** The role of the text around it, whose style continues under its own. */
  ground?: StyleRole | undefined;
}

/** One row of the screen. */
export interface RowModel {
  /** Identifies it among the rows around it. Default: its position. */
  id?: string | undefined;
  cells: readonly RowCell[];
  /** Set if the cursor is on the row; says whether its pane has the focus. */
  selection?: RowSelection | undefined;
}

type RowSelection = "focused" | "unfocused";

export function createRow(text: string, role?: StyleRole): RowModel {
  return { cells: [{ text, role }] };
}

/** Wraps lines of prose to rows. */
export function wrapRows(
  { createLook }: Pick<Theme, "createLook">,
  lines: readonly string[],
  width: number,
  role?: StyleRole,
): RowModel[] {
  return wrapProseLines(lines, createLook(width)).map((line) => createRow(line, role));
}

export const BLANK_ROW: RowModel = { cells: [] };

/** Puts the bar of a selected row into its first column, unless the row has its mark there. */
function addAccent(cells: readonly RowCell[], selection: RowSelection, sign: string): readonly RowCell[] {
  const [cell, ...others] = cells;
  if (cell === undefined || !cell.text.startsWith(" ")) return cells;
  const bar: RowCell = { text: sign, role: selection === "focused" ? "accent" : "border" };
  return [bar, { ...cell, text: cell.text.slice(1) }, ...others];
}

export function joinCellTexts(cells: readonly RowCell[]): string {
  return cells.map(({ text }) => text).join("");
}

export function computeCellsWidth(cells: readonly RowCell[]): number {
  return cells.reduce((sum, { text }) => sum + computeDisplayWidth(text), 0);
}

export function padCells(cells: readonly RowCell[], width: number): readonly RowCell[] {
  const missing = width - computeCellsWidth(cells);
  return missing > 0 ? [...cells, { text: " ".repeat(missing) }] : cells;
}

/** Cuts cells to a number of columns. */
export function truncateCells(cells: readonly RowCell[], width: number): readonly RowCell[] {
  if (computeCellsWidth(cells) <= width) return cells;
  const kept: RowCell[] = [];
  let room = width;
  for (const cell of cells) {
    const own = computeDisplayWidth(cell.text);
    if (own >= room)
      return [...kept, { ...cell, text: cleanToWidth(`${cell.text}${" ".repeat(room)}`, room) }];
    kept.push(cell);
    room -= own;
  }
  return kept;
}

/** Builds a line of a tree: a label behind its start, and a note at the right edge. The label is cut first. */
export function buildTreeCells(
  start: readonly RowCell[],
  label: RowCell,
  note: RowCell,
  width: number,
): RowCell[] {
  const end = { ...note, text: cleanToWidth(note.text, Math.max(0, width - 10)) };
  const room = width - 1 - computeCellsWidth([...start, end]);
  const text = cleanToWidth(label.text, Math.max(1, room - 1));
  const gap = " ".repeat(Math.max(1, room - computeDisplayWidth(text)));
  return [...start, { ...label, text }, { text: gap }, end];
}

export function padText(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - computeDisplayWidth(text)));
}
