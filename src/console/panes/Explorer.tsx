import { cleanToWidth, computeDisplayWidth } from "../../base/display-width.ts";
import type { TreeNode } from "../data/explorer-nodes.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { Size } from "../state/layout.ts";
import type { RowCell, RowSelection } from "../theme/cells.ts";
import { Row } from "../theme/Row.tsx";
import type { Signs } from "../theme/signs.ts";
import { PaneBox } from "./boxes.tsx";

/** The tree of everything, beside the table. */
export function Explorer({ model }: { model: ExplorerModel }) {
  return (
    <PaneBox size={model}>
      <Row
        cells={[{ text: " EXPLORER", role: model.isFocused ? "titleFocused" : "title" }]}
        width={model.width}
      />
      {model.nodes.map(({ key, cells, selection }) => (
        <Row key={key} cells={cells} selection={selection} width={model.width} />
      ))}
    </PaneBox>
  );
}

/** The visible nodes of the tree. */
export interface ExplorerModel extends Size {
  isFocused: boolean;
  nodes: readonly ExplorerNode[];
}

interface ExplorerNode {
  key: string;
  cells: readonly RowCell[];
  selection: RowSelection | undefined;
}

/** Builds the tree of all locks, resources, hosts and other items. */
export function buildExplorerModel(
  { theme, state, tree }: Pick<ConsoleParts, "theme" | "state" | "tree">,
  size: Size,
): ExplorerModel {
  const isFocused = state.focus === "explorer";
  const { cursor } = state.explorer;
  const nodes = tree.nodes.slice(cursor.top, cursor.top + size.height - 1);
  return {
    ...size,
    isFocused,
    nodes: nodes.map((node, at) => ({
      key: node.id,
      cells: buildNodeCells(theme.signs, node, size.width),
      selection: isFocused && cursor.top + at === cursor.index ? "focused" : undefined,
    })),
  };
}

function buildNodeCells(signs: Signs, node: TreeNode, width: number): RowCell[] {
  const { depth, tone, isOpen } = node;
  const fold = isOpen === undefined ? " " : isOpen ? signs.open : signs.closed;
  const hasMark = depth > 0 && isOpen === undefined && signs.marks[tone].trim() !== "";
  const start = ` ${" ".repeat(depth)}${hasMark ? "" : `${fold} `}`;
  const mark = hasMark ? signs.marks[tone] : "";
  const note = cleanToWidth(node.note, Math.max(0, width - 10));
  const taken = computeDisplayWidth(start + mark);
  const label = cleanToWidth(node.label, Math.max(1, width - taken - computeDisplayWidth(note) - 2));
  const gap = Math.max(1, width - 1 - taken - computeDisplayWidth(label) - computeDisplayWidth(note));
  const isUrgent = tone === "problem" || tone === "waiting";
  return [
    { text: start, role: "quiet" },
    { text: mark, role: isUrgent ? tone : "quiet" },
    { text: label, role: depth === 0 ? "heading" : tone === "free" || tone === "quiet" ? "quiet" : "plain" },
    { text: " ".repeat(gap) },
    { text: note, role: isUrgent ? tone : "quiet" },
  ];
}
