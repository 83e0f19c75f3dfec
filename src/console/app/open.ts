import { unfoldedFor } from "../explorer/tree.ts";
import { openJob } from "../overlay/output.ts";
import type { App } from "./app.ts";
import { focusOn, goTo } from "./focus.ts";

/** Enter: goes to what the explorer's line stands for; from a row to its detail; from a job to all it has said. */
export function open(app: App): void {
  switch (app.state.focus) {
    case "explorer": {
      const node = app.tree.nodes[app.state.explorer.cursor.index];
      return node && goTo(app, node.tab, node.key);
    }
    case "table":
      return openDetail(app);
    case "panel":
      return openRow(app);
    default:
      return;
  }
}

/** Where there is no room for it beside the table, it gets all of it. */
function openDetail(app: App): void {
  focusOn(app, "detail");
  if (app.layout()?.detail === undefined) app.update((state) => ({ ...state, zoomed: "detail" }));
}

function openRow(app: App): void {
  const { panel } = app.state;
  if (panel.id === "jobs") {
    const job = app.jobs.list[panel.cursor.index];
    return job && openJob(app, job.id);
  }
  const key = app.panelTable()?.keyAt(panel.cursor.index);
  if (key !== undefined && (panel.id === "problems" || panel.id === "audit")) goTo(app, panel.id, key);
}

/** Left and right: folds and unfolds in the explorer; elsewhere goes from the table to the explorer and to the detail. */
export function unfold(app: App, isOpen: boolean): void {
  const { focus, explorer } = app.state;
  if (focus === "table") return focusOn(app, isOpen ? "detail" : "explorer");
  if (focus === "detail" && !isOpen) return focusOn(app, "table");
  if (focus !== "explorer") return;
  const node = app.tree.nodes[explorer.cursor.index];
  if (node === undefined) return;
  if (node.isOpen === undefined || node.isOpen === isOpen)
    return isOpen ? focusOn(app, "table") : toParent(app);
  const open = new Set(explorer.open ?? unfoldedFor(app.counts()));
  if (isOpen) open.add(node.id);
  else open.delete(node.id);
  app.update((state) => ({ ...state, explorer: { ...state.explorer, open } }));
}

function toParent(app: App): void {
  const { nodes } = app.tree;
  const { cursor } = app.state.explorer;
  const depth = nodes[cursor.index]?.depth ?? 0;
  const at = nodes.findLastIndex((node, index) => index < cursor.index && node.depth < depth);
  const key = nodes[at]?.id;
  if (key === undefined) return;
  app.update((state) => ({ ...state, explorer: { ...state.explorer, cursor: { ...cursor, key } } }));
}
