import type { QueueKind } from "../../protocol/keys.ts";
import type { ViewContext } from "../views/view.ts";
import { buildEmptyTableRow, type QueueTableRow } from "./queue-columns.ts";

/**
 * Builds rows for locks or resources with empty queues: those that are drained, and those in `known`.
 * @param seen   names that already have a row
 * @param known  names with a history or a configuration; empty unless all are requested
 */
export function buildEmptyTableRows(
  kind: QueueKind,
  seen: ReadonlySet<string>,
  known: Iterable<string>,
  viewContext: ViewContext,
): QueueTableRow[] {
  const drained = viewContext.drains.filter(({ scope }) => scope === kind).map(({ name }) => name);
  const names = new Set([...drained, ...known]);
  return [...names]
    .filter((name) => !seen.has(name))
    .map((name) => buildEmptyTableRow(kind, name, viewContext));
}
