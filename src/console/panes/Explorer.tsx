import { openSelected, unfold } from "../actions/open.ts";
import type { ConsoleApp } from "../console-app.ts";
import { useConsole } from "../context.tsx";
import type { TreeNode } from "../data/explorer-tree.ts";
import type { AreaEvent } from "../mouse.tsx";
import { moveToRow } from "../parts/moves.ts";
import { focusOn } from "../parts/navigation.ts";
import type { Size } from "../state/layout.ts";
import { buildTreeCells, Row, type RowCell, type RowModel, Rows } from "../theme/Row.tsx";
import type { Signs } from "../theme/theme.ts";
import { PaneArea, TitleRow } from "./PaneArea.tsx";

/** The tree of everything, beside the table. */
export function Explorer({ size }: { size: Size }) {
  return <PaneArea id="explorer" size={size} Rows={ExplorerRows} onPress={handlePress} />;
}

function ExplorerRows(size: Size) {
  const { isFocused, rows } = useConsole(buildExplorer, size);
  return (
    <>
      <TitleRow width={size.width} isFocused={isFocused}>
        <Row cells={[{ text: " EXPLORER", role: isFocused ? "titleFocused" : "title" }]} />
      </TitleRow>
      <Rows rows={rows} width={size.width} />
    </>
  );
}

function buildExplorer({ tree, state, theme }: ConsoleApp, { width, height }: Size) {
  const isFocused = state.focus === "explorer";
  const { cursor } = state.explorer;
  const rows = tree.nodes.slice(cursor.top, cursor.top + height - 1).map(
    (node, at): RowModel => ({
      id: node.id,
      cells: buildNodeCells(theme.signs, node, width),
      selection: isFocused && cursor.top + at === cursor.index ? "focused" : undefined,
    }),
  );
  return { isFocused, rows };
}

function buildNodeCells(signs: Signs, node: TreeNode, width: number): RowCell[] {
  const { depth, tone, isOpen } = node;
  const fold = isOpen === undefined ? " " : isOpen ? signs.open : signs.closed;
  const hasMark = depth > 0 && isOpen === undefined && signs.marks[tone].trim() !== "";
  const start = ` ${" ".repeat(depth)}${hasMark ? "" : `${fold} `}`;
  const mark = hasMark ? signs.marks[tone] : "";
  const isUrgent = tone === "problem" || tone === "waiting";
  const role = isUrgent ? tone : "quiet";
  const label = depth === 0 ? "heading" : tone === "free" || tone === "quiet" ? "quiet" : "plain";
  return buildTreeCells(
    [
      { text: start, role: "quiet" },
      { text: mark, role },
    ],
    { text: node.label, role: label },
    { text: node.note, role },
    width,
  );
}

/** Opens the node that is pressed, or folds or unfolds it if its fold sign is pressed. */
function handlePress(app: ConsoleApp, line: number, { button, column }: AreaEvent): void {
  if (button !== "left") return;
  focusOn(app, "explorer");
  if (line < 1) return;
  const index = app.state.explorer.cursor.top + line - 1;
  const node = app.tree.nodes[index];
  moveToRow(app, "explorer", index);
  if (node?.isOpen !== undefined && column === 1 + 2 * node.depth) unfold(app, !node.isOpen);
  else if (node !== undefined) openSelected(app);
}
