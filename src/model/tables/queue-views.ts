import { CONTEXT_COLLECTIONS, type QueueView } from "../views/view.ts";
import {
  buildQueueTableRow,
  QUEUE_COLUMNS,
  QUEUE_ROW_ACCESSORS,
  type QueueTableRow,
} from "./queue-columns.ts";
import { formatWideDrains } from "./remarks.ts";

const { kind, name, state, holder, since, units, waiting, longest, command, label, user, run, token, note } =
  QUEUE_COLUMNS;
const { order, about, last } = QUEUE_COLUMNS;
const detail = [label, user, run, token];

/** Locks and resources that are held or waited for. */
export const overviewView: QueueView<QueueTableRow> = {
  ...{
    of: "queue",
    hasEmpty: true,
    id: "overview",
    brief: "locks and resources that are held or waited for",
  },
  collections: [...CONTEXT_COLLECTIONS, "locks", "resources"],
  columns: [kind, name, state, holder, since, units, waiting, longest, command, note, ...detail],
  sort: "kind",
  ...QUEUE_ROW_ACCESSORS,
  buildRows: (queue, viewContext) => [buildQueueTableRow(queue, viewContext)],
  empty:
    "Nothing is held or waited for. Try: signalbox run --lock demo -- sleep 60 (--all also lists what is free)",
  listRemarks: formatWideDrains,
};

export const locksView: QueueView<QueueTableRow> = {
  ...{ of: "queue", hasEmpty: true, id: "locks", brief: "locks: who holds them, how many wait" },
  collections: [...CONTEXT_COLLECTIONS, "locks"],
  columns: [name, state, holder, since, waiting, longest, command, last, note, ...detail],
  sort: "name",
  ...QUEUE_ROW_ACCESSORS,
  buildRows: (queue, viewContext) => (queue.kind === "lock" ? [buildQueueTableRow(queue, viewContext)] : []),
  empty:
    "No lock is held or waited for. Try: signalbox run --lock demo -- sleep 60 (--all also lists free ones)",
  listRemarks: formatWideDrains,
};

export const resourcesView: QueueView<QueueTableRow> = {
  ...{
    of: "queue",
    hasEmpty: true,
    id: "resources",
    brief: "resources: units held and free, who waits for units",
  },
  collections: [...CONTEXT_COLLECTIONS, "resources"],
  columns: [name, state, units, holder, since, waiting, longest, command, note, about, ...detail, order],
  sort: "order",
  ...QUEUE_ROW_ACCESSORS,
  buildRows: (queue, viewContext) =>
    queue.kind === "resource" ? [buildQueueTableRow(queue, viewContext)] : [],
  empty:
    "No units are held or waited for. Try: signalbox run --lease db=2:10 -- sleep 60 (--all also lists what is configured)",
  listRemarks: formatWideDrains,
};
