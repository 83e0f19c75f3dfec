import { buildQueueRow, type QueueRow } from "../rows/queue-row.ts";
import { CONTEXT_COLLECTIONS, type QueueView } from "../views/view.ts";
import { QUEUE_COLUMNS, QUEUE_VIEW } from "./queue-columns.ts";

const { kind, name, state, holder, since, units, waiting, longest, command, label, user, run, token, note } =
  QUEUE_COLUMNS;
const { order, about, last, trend, waitTrend } = QUEUE_COLUMNS;
const detail = [label, user, run, token];

/** Locks and resources that are held or waited for. */
export const overviewView: QueueView<QueueRow> = {
  ...QUEUE_VIEW,
  id: "overview",
  brief: "locks and resources that are held or waited for",
  collections: [...CONTEXT_COLLECTIONS, "locks", "resources"],
  columns: [kind, name, state, holder, since, units, waiting, longest, command, note, ...detail],
  sort: "kind",
  buildRows: (queue, viewContext) => [buildQueueRow(queue, viewContext)],
  empty:
    "Nothing is held or waited for. Try: signalbox run --lock demo -- sleep 60 (--all also lists what is free)",
};

export const locksView: QueueView<QueueRow> = {
  ...QUEUE_VIEW,
  id: "locks",
  brief: "locks: who holds them, how many wait",
  collections: [...CONTEXT_COLLECTIONS, "locks"],
  columns: [name, state, holder, since, waiting, longest, command, last, note, ...detail, trend, waitTrend],
  sort: "name",
  buildRows: (queue, viewContext) => (queue.kind === "lock" ? [buildQueueRow(queue, viewContext)] : []),
  empty:
    "No lock is held or waited for. Try: signalbox run --lock demo -- sleep 60 (--all also lists free ones)",
};

export const resourcesView: QueueView<QueueRow> = {
  ...QUEUE_VIEW,
  id: "resources",
  brief: "resources: units held and free, who waits for units",
  collections: [...CONTEXT_COLLECTIONS, "resources"],
  columns: [name, state, units, holder, since, waiting, longest, command, note, about, ...detail, order],
  sort: "order",
  buildRows: (queue, viewContext) => (queue.kind === "resource" ? [buildQueueRow(queue, viewContext)] : []),
  empty:
    "No units are held or waited for. Try: signalbox run --lease db=2:10 -- sleep 60 (--all also lists what is configured)",
};
