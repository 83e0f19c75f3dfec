import { createSameRowCheck } from "../navigation/focus.ts";
import type {
  ClockAccess,
  ContextAccess,
  CursorAccess,
  DialogPorts,
  SelectionAccess,
  StateAccess,
  TreeAccess,
} from "../parts/parts.ts";
import { openSelected } from "./open.ts";

type WrapRowActionParts = ClockAccess & ContextAccess & CursorAccess & DialogPorts & SelectionAccess;

/**
 * Wraps an action that applies to rows of the table. If another list has the keyboard, the user means the line in
 * that list: the wrapped action goes to the linked row and asks for the key again. It never acts on a row that is not
 * in view.
 */
export function wrapRowAction<P extends WrapRowActionParts>(act: (app: P) => void): (app: P) => void {
  return (app) => {
    const { focus } = app.state;
    if (focus === "table" || focus === "detail") return act(app);
    if (!hasLinkedRow(app))
      return app.showToast(
        "this key acts on rows of the table: go there first",
        "quiet",
        () => app.state.focus === focus,
      );
    openSelected(app);
    app.showToast("row selected: press the key again to act on it", "quiet", createSameRowCheck(app));
  };
}

/** Whether the line under the cursor leads to a row. */
function hasLinkedRow({ state: { focus, explorer, panel }, tree }: StateAccess & TreeAccess): boolean {
  if (focus === "explorer") return tree.nodes[explorer.cursor.index]?.key !== undefined;
  return panel.id === "problems" || panel.id === "audit";
}
