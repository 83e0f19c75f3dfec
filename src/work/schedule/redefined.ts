import type { Definition } from "../../schedule/definition.ts";
import { type First, firstDue, modified } from "../../schedule/plan.ts";
import type { Change } from "./amend.ts";
import type { Seen } from "./seen.ts";

/** What one definition after another makes of a schedule; nothing where it is the same. */
export function redefined(before: Seen, after: Definition, now: number, first: First = {}): Change[] {
  const { id, definition, due } = before;
  const isMoved = first.start !== undefined || first.at !== undefined;
  const isSame = definition !== undefined && sameDefinition(definition, after);
  if (isSame && due !== undefined && !isMoved) return [];
  const fresh = definition === undefined || due === undefined || isMoved;
  const { next: _, ...rest } = due ?? { open: [] }; // where nothing comes any more, the old one must not stay
  const next = fresh
    ? { ...rest, ...firstDue(id, after, now, first), open: rest.open }
    : modified(id, definition, after, due, now);
  return [{ before, ...(!isSame && { definition: after }), ...(next !== due && { due: next }) }];
}

/** Whether two definitions say the same, whatever the order of their fields. */
export function sameDefinition(one: Definition, other: Definition): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
