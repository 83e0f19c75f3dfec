import type { App } from "./app.ts";
import { open } from "./open.ts";

/**
 * For keys that act on rows of the table. Where another list has the keyboard, its own line is what its user means: they are
 * taken to that row, and asked for the key again; never is a row acted on that they do not look at.
 */
export function onRows(act: (app: App) => void): (app: App) => void {
  return (app) => {
    const { focus } = app.state;
    if (focus === "table" || focus === "detail") return act(app);
    if (!standsForRow(app)) return app.toast("this acts on rows of the table: go there first");
    open(app);
    app.toast("this is its row: the key again acts on it");
  };
}

/** Whether the line that has the cursor leads to a row. */
function standsForRow({ state: { focus, explorer, panel }, tree }: App): boolean {
  if (focus === "explorer") return tree.nodes[explorer.cursor.index]?.key !== undefined;
  return panel.id === "problems" || panel.id === "audit";
}
