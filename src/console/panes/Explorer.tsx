import { cleanToWidth, computeDisplayWidth } from "../../core/base/display-width.ts";
import { openSelected, unfold } from "../actions/open.ts";
import type { ConsoleApp } from "../console-app.ts";
import { useConsole } from "../context.tsx";
import { ATTENTION, type TreeNode } from "../data/explorer-tree.ts";
import type { AreaEvent } from "../mouse.tsx";
import { moveToRow } from "../parts/moves.ts";
import { focusOn } from "../parts/navigation.ts";
import type { Size } from "../state/layout.ts";
import { buildTreeCells, Row, type RowCell, type RowModel } from "../theme/Row.tsx";
import type { Signs } from "../theme/theme.ts";
import { PaneArea, PaneRows, TitleRow } from "./PaneArea.tsx";

/** A note of at most this width is never cut. A longer one is left out where it has less room. */
const SHORT_NOTE_COLUMNS = 4;

/** The tree of everything, beside the table. */
export function Explorer({ size }: { size: Size }) {
  const isFocused = useConsole(hasFocus);
  return (
    <PaneArea id="explorer" size={size} onPress={handlePress}>
      <TitleRow width={size.width} isFocused={isFocused}>
        <Row cells={[{ text: " EXPLORER", role: isFocused ? "titleFocused" : "title" }]} />
      </TitleRow>
      <PaneRows size={size} build={buildExplorerRows} />
    </PaneArea>
  );
}

const hasFocus = ({ state }: ConsoleApp) => state.focus === "explorer";

function buildExplorerRows({ tree, state, theme }: ConsoleApp, { width, height }: Size): RowModel[] {
  const { cursor } = state.explorer;
  const selected = state.focus === "explorer" ? cursor.index : -1;
  return tree.nodes.slice(cursor.top, cursor.top + height - 1).map((node, at) => ({
    id: node.id,
    cells: buildNodeCells(theme.signs, node, width),
    selection: cursor.top + at === selected ? "focused" : undefined,
  }));
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
    {
      text: node.id.startsWith(`${ATTENTION}/`)
        ? fitNote(node, width - start.length - mark.length)
        : node.note,
      role,
    },
    width,
  );
}

/** Cuts the note of a node before its name; its colour and mark say the most important. @param room  columns of both */
function fitNote({ label, note }: TreeNode, room: number): string {
  const left = room - 2 - computeDisplayWidth(label);
  if (computeDisplayWidth(note) <= SHORT_NOTE_COLUMNS) return note;
  return left < SHORT_NOTE_COLUMNS ? "" : cleanToWidth(note, left);
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
