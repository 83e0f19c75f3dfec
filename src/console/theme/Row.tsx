import { Text, Transform } from "ink";
import { createContext, memo, type ReactNode, use } from "react";
import { addAccent, type RowCell, type RowModel, type RowSelection } from "./cells.ts";
import type { StyleRole } from "./roles.ts";
import { getTheme, type Theme } from "./theme.ts";

interface RowProps extends RowModel {
  /** The columns that a selected row fills. */
  width: number;
}

/**
 * One row: a text with a nested text for each cell. The widths of cells are those of `src/base/text.ts`. A box for each
 * cell would take Ink nearly twice as long for a frame.
 */
export const Row = memo(({ cells, selection, width }: RowProps) => {
  const { hasStyle, signs } = useTheme();
  const shown = selection === undefined ? cells : addAccent(cells, selection, signs.accent);
  const spans = mergeUnstyled(shown, hasStyle).map((cell, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a cell is identified by its position
    <Span key={at} cell={cell} />
  ));
  return (
    <Text wrap="truncate">
      {selection === undefined ? (
        spans
      ) : (
        <Selected selection={selection} width={width}>
          {spans}
        </Selected>
      )}
      {isBlank(cells) && " "}
    </Text>
  );
}, isSameRow);

/** Joins neighbours that the theme leaves as they are: each text of its own costs Ink time in every frame. */
function mergeUnstyled(cells: readonly RowCell[], hasStyle: (role: StyleRole) => boolean): RowCell[] {
  const merged: RowCell[] = [];
  let isOpen = false;
  for (const { text, role, ground } of cells) {
    const isStyled = (role !== undefined && hasStyle(role)) || ground !== undefined;
    if (isStyled) merged.push({ text, role, ground });
    else if (isOpen) merged.push({ text: (merged.pop()?.text ?? "") + text });
    else merged.push({ text });
    isOpen = !isStyled;
  }
  return merged;
}

/** A text without any column would have no height. */
function isBlank(cells: readonly RowCell[]): boolean {
  return cells.every(({ text }) => text === "");
}

/** A piece of text with the style of its role. */
export function Span({ cell: { text, role, ground } }: { cell: RowCell }) {
  const inner = role === undefined ? text : <Styled by={role}>{text}</Styled>;
  return ground === undefined ? inner : <Styled by={ground}>{inner}</Styled>;
}

function Styled({ by, children }: { by: StyleRole; children: ReactNode }) {
  const { style } = useTheme();
  return <Transform transform={(text) => style(by, text)}>{children}</Transform>;
}

interface SelectedProps {
  selection: RowSelection;
  width: number;
  children: ReactNode;
}

function Selected({ selection, width, children }: SelectedProps) {
  const { styleRow } = useTheme();
  const state = { isSelected: true, isFocused: selection === "focused", width };
  return <Transform transform={(line) => styleRow(line, state)}>{children}</Transform>;
}

function isSameRow(a: RowProps, b: RowProps): boolean {
  return (
    a.selection === b.selection &&
    a.width === b.width &&
    (a.cells === b.cells ||
      (a.cells.length === b.cells.length && a.cells.every((cell, at) => isSameCell(cell, b.cells[at]))))
  );
}

function isSameCell(a: RowCell, b: RowCell | undefined): boolean {
  return a.text === b?.text && a.role === b.role && a.ground === b.ground;
}

/** Rows, one below the other. */
export function Rows({ rows, width }: { rows: readonly RowModel[]; width: number }) {
  return rows.map((row, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a row is identified by its position
    <Row key={at} {...row} width={width} />
  ));
}

/** The theme of all components. */
export const ThemeContext = createContext<Theme>(getTheme("mono", "16", true));

export function useTheme(): Theme {
  return use(ThemeContext);
}
