import { clean, computeStyledWidth } from "../../base/text.ts";
import type { App } from "../app.ts";
import type { TreeNode } from "../data/explorer/tree-node.ts";
import type { Size } from "../state/layout.ts";
import { padToWidth } from "../theme/theme.ts";

/** Renders the tree of all locks, resources, hosts and other items. */
export function renderExplorerPane(app: App, { width, height }: Size): string[] {
  const { theme, state } = app;
  const isFocused = state.focus === "explorer";
  const { cursor } = state.explorer;
  const title = theme.style(isFocused ? "titleFocused" : "title", " EXPLORER");
  const nodes = app.tree.nodes.slice(cursor.top, cursor.top + height - 1);
  const lines = nodes.map((node, at) => {
    const isSelected = cursor.top + at === cursor.index && isFocused;
    return theme.styleRow(renderNodeLine(app, node, width), { isSelected, isFocused, width });
  });
  return [title, ...lines];
}

function renderNodeLine({ theme }: App, node: TreeNode, width: number): string {
  const { signs } = theme;
  const fold = node.isOpen === undefined ? " " : node.isOpen ? signs.open : signs.closed;
  const mark = node.depth > 0 && signs.marks[node.tone].trim() !== "" ? signs.marks[node.tone] : "";
  const start = ` ${"  ".repeat(node.depth)}${fold} `;
  const note = clean(node.note, Math.max(0, width - 10));
  const room = Math.max(
    1,
    width - computeStyledWidth(start) - computeStyledWidth(mark) - computeStyledWidth(note) - 2,
  );
  const label = clean(node.label, room);
  const text = `${theme.style("quiet", start)}${theme.style(node.tone, mark)}${node.depth === 0 ? label : theme.style("plain", label)}`;
  const gap = Math.max(1, width - 1 - computeStyledWidth(text) - computeStyledWidth(note));
  return padToWidth(
    `${text}${" ".repeat(gap)}${theme.style(node.depth === 0 && node.tone === "problem" ? "problem" : "quiet", note)}`,
    width,
  );
}
