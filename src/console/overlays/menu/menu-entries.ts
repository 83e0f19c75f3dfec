import { COMMANDS, isRowCommandId } from "../../../commands/registry/registry.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import type { Subject } from "../../../model/views/view.ts";
import { buildRowAction } from "../../actions/commands/row-action.ts";
import { type KeyAction, listKeyActions } from "../../actions/keys/key-actions.ts";

/** An action that applies to a row. */
export interface MenuEntry {
  id: string;
  brief: string;
  /** As displayed; undefined if no key is bound to it. */
  key: string | undefined;
  /** Why it is not possible now; undefined if it is. */
  obstacle: string | undefined;
}

/** What the entries depend on. */
export interface MenuInputs {
  /** The chosen rows; an action applies if it applies to one of them. */
  subjects: readonly Subject[];
  snapshot: Snapshot;
  /** Why nothing can be changed now. */
  changeObstacle: string | undefined;
  getKeyLabels(id: string): readonly string[];
}

/** Lists the actions that apply to the chosen rows, in the order of the help. */
export function listMenuEntries(inputs: MenuInputs): MenuEntry[] {
  return listKeyActions(COMMANDS)
    .filter((action) => inputs.subjects.some((subject) => isFor(action, subject)))
    .map((action) => ({
      id: action.id,
      brief: action.brief,
      key: inputs.getKeyLabels(action.id)[0],
      obstacle: findObstacle(action, inputs),
    }));
}

/** Whether an action applies to rows of this kind. A record stands for what it is about. */
function isFor({ rows }: KeyAction, subject: Subject): boolean {
  if (rows === undefined || rows === "any") return rows === "any";
  const about = subject.kind === "record" ? subject.about : subject;
  return about !== undefined && rows.includes(about.kind);
}

function findObstacle(action: KeyAction, inputs: MenuInputs): string | undefined {
  const { id, isChange } = action;
  if (isChange && inputs.changeObstacle !== undefined) return inputs.changeObstacle;
  if (!isRowCommandId(id)) return undefined;
  const results = inputs.subjects
    .filter((subject) => isFor(action, subject))
    .map((subject) => buildRowAction(id, subject, inputs.snapshot));
  const [first] = results;
  if (first === undefined || results.some((result) => "command" in result)) return undefined;
  return "reason" in first ? first.reason : undefined;
}
