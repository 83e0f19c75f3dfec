import type { QueueKind } from "../../protocol/keys.ts";
import { buildEmptyQueueRow, type QueueRow } from "../rows/queue-row.ts";
import type { ViewContext } from "../views/view.ts";

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
): QueueRow[] {
  const drained = viewContext.drains.filter(({ scope }) => scope === kind).map(({ name }) => name);
  const names = new Set([...drained, ...known]);
  return [...names]
    .filter((name) => !seen.has(name))
    .map((name) => buildEmptyQueueRow(kind, name, viewContext));
}
