import { clean } from "../../base/text.ts";
import type { Role } from "../theme/roles.ts";
import { padTo, type Theme, widthOf } from "../theme/theme.ts";

/** A piece of a bar. Those of least weight go first where there is no room; 1 never goes. */
export interface Piece {
  text: string;
  role: Role;
  weight: number;
}

/**
 * Pieces at the left and at the right of one line with a background.
 * @param ground  role of what is between them
 */
export function barLine(
  theme: Theme,
  width: number,
  left: readonly Piece[],
  right: readonly Piece[],
  ground: Role,
): string {
  const all = fitting(
    [...left, ...right].filter(({ text }) => text !== ""),
    width,
  );
  const paint = (pieces: readonly Piece[]) =>
    pieces
      .filter((piece) => all.has(piece))
      .map(({ role, text }) => theme.style(role, text))
      .join("");
  const [start, end] = [paint(left), paint(right)];
  const gap = Math.max(0, width - widthOf(start) - widthOf(end));
  const room = padTo(start + theme.style(ground, " ".repeat(gap)) + end, width);
  return widthOf(room) > width ? theme.style(ground, clean(plain(start), width)) : room;
}

function fitting(pieces: readonly Piece[], width: number): ReadonlySet<Piece> {
  let shown = [...pieces];
  const total = () => shown.reduce((sum, { text }) => sum + widthOf(text), 0);
  while (total() > width) {
    const least = shown.reduce((worst, piece) => (piece.weight >= worst.weight ? piece : worst));
    if (least.weight <= 1) break;
    shown = shown.filter((piece) => piece !== least);
  }
  return new Set(shown);
}

function plain(painted: string): string {
  return painted.replaceAll(/\x1b\[[0-9;:]*m/g, "");
}
