import { clean, computeDisplayWidth } from "../../../base/text.ts";
import type { TreeNode } from "../../data/explorer/tree-node.ts";
import type { ConsoleData } from "../../parts/parts.ts";
import type { Size } from "../../state/layout.ts";
import { createRow, type RowCell, type RowModel } from "../../theme/cells.ts";
import type { Signs } from "../../theme/signs.ts";

/** Builds the tree of all locks, resources, hosts and other items: its title, and the visible nodes. */
export function buildExplorerRows({ theme, state, tree }: ConsoleData, { width, height }: Size): RowModel[] {
  const isFocused = state.focus === "explorer";
  const { cursor } = state.explorer;
  const nodes = tree.nodes.slice(cursor.top, cursor.top + height - 1);
  return [
    createRow(" EXPLORER", isFocused ? "titleFocused" : "title"),
    ...nodes.map(
      (node, at): RowModel => ({
        key: node.id,
        cells: buildNodeCells(theme.signs, node, width),
        selection: isFocused && cursor.top + at === cursor.index ? "focused" : undefined,
      }),
    ),
  ];
}

function buildNodeCells(signs: Signs, node: TreeNode, width: number): RowCell[] {
  const fold = node.isOpen === undefined ? " " : node.isOpen ? signs.open : signs.closed;
  const mark = node.depth > 0 && signs.marks[node.tone].trim() !== "" ? signs.marks[node.tone] : "";
  const start = ` ${"  ".repeat(node.depth)}${fold} `;
  const note = clean(node.note, Math.max(0, width - 10));
  const taken = computeDisplayWidth(start + mark);
  const label = clean(node.label, Math.max(1, width - taken - computeDisplayWidth(note) - 2));
  const gap = Math.max(1, width - 1 - taken - computeDisplayWidth(label) - computeDisplayWidth(note));
  return [
    { text: start, role: "quiet" },
    { text: mark, role: node.tone },
    { text: label, role: node.depth === 0 ? undefined : "plain" },
    { text: " ".repeat(gap) },
    { text: note, role: node.depth === 0 && node.tone === "problem" ? "problem" : "quiet" },
  ];
}
