import type { RowCell } from "../../theme/cells.ts";
import type { StyleRole } from "../../theme/roles.ts";
import type { Signs } from "../../theme/signs.ts";

/** States that have a mark, by their roles. */
const STATES = ["held", "free", "waiting", "problem"] as const;
/** What stands for a cell without a text. */
const NOTHING = "-";

/**
 * Makes what is normal quiet, so that the rest stands out. A held row keeps the colour of its mark only, a free row is
 * dim, a row that waits or has a problem has its name in that colour. Cells without a text stay empty.
 */
export function quietenCells(cells: readonly RowCell[], { marks }: Pick<Signs, "marks">): RowCell[] {
  const shown = cells.map(blankNothing);
  const at = shown.findIndex(({ text, role }) =>
    STATES.some((own) => own === role && text.startsWith(marks[own])),
  );
  const state = shown[at];
  switch (state?.role) {
    case "held":
      return shown.flatMap((cell, index) => (index === at ? splitMark(cell, marks.held) : [cell]));
    case "free":
      return shown.map((cell) => (isPlain(cell.role) ? { ...cell, role: "quiet" } : cell));
    case "waiting":
    case "problem":
      return shown.map((cell, index) =>
        index === 0 && isPlain(cell.role) ? { ...cell, role: state.role } : cell,
      );
    default:
      return shown;
  }
}

function isPlain(role: StyleRole | undefined): boolean {
  return role === undefined || role === "plain";
}

function blankNothing(cell: RowCell): RowCell {
  return cell.role === "quiet" && cell.text.trim() === NOTHING
    ? { text: " ".repeat(cell.text.length) }
    : cell;
}

function splitMark({ text, role }: RowCell, mark: string): RowCell[] {
  return [
    { text: mark, role },
    { text: text.slice(mark.length), role: "plain" },
  ];
}
