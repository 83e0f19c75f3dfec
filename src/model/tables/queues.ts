import type { Drain } from "../../protocol/drain.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";
import { buildQueueRow, type QueueRow } from "../rows/queue-row.ts";
import { formatTicketOwner, getEntryState } from "../snapshot/claims.ts";
import { listStoppingDrains } from "../views/stopping-drains.ts";
import { CONTEXT_COLLECTIONS, type QueueView } from "../views/view.ts";
import {
  formatDrainNote,
  formatTicketCommand,
  getStateTone,
  judgeWaitAge,
  toDrainJson,
  toQueueEntryJson,
} from "./cells.ts";
import {
  createAgeColumn,
  createNoteColumn,
  createNumberColumn,
  createOwnerColumn,
  createStateColumn,
} from "./columns.ts";
import { QUEUE_COLUMNS, QUEUE_VIEW } from "./queue-columns.ts";

/** A waiting ticket. */
interface WaiterRow {
  entry: QueueEntry;
  kind: QueueKind;
  name: string;
  /** Position among all tickets of the queue, from 1. */
  position: number;
  /** Drains that stop it in this queue: of the lock or resource, of its host or group, or of everything. */
  drains: readonly Drain[];
}

/** All waiting tickets, one per row, longest wait first. */
export const queuesView: QueueView<WaiterRow> = {
  of: "queue",
  hasEmpty: false,
  id: "queues",
  brief: "all runs that wait, the longest wait first",
  collections: [...CONTEXT_COLLECTIONS, "locks", "resources"],
  columns: [
    { id: "kind", title: "KIND", priority: 4, formatCell: ({ kind }) => kind },
    { id: "name", title: "NAME", priority: 1, formatCell: ({ name }) => name },
    createNumberColumn("position", "POS", 3, ({ position }) => position),
    createOwnerColumn("who", "WHO", 1, ({ entry }) => formatTicketOwner(entry)),
    createStateColumn(2, getStateTone, ({ entry }) => getEntryState(entry)),
    createAgeColumn("waits", "WAITS", 2, ({ entry }) => entry.ticket?.enqueuedAt, judgeWaitAge),
    {
      id: "units",
      title: "UNITS",
      priority: 4,
      align: "right",
      formatCell: ({ kind, entry }) => (kind === "lock" ? "" : String(entry.ticket?.count ?? "?")),
      getSortValue: ({ entry }) => entry.ticket?.count ?? 0,
      getMeasure: ({ entry }) => entry.ticket?.count,
    },
    createNoteColumn(3, ({ kind, drains }) => formatDrainNote(drains, kind)),
    {
      id: "command",
      title: "COMMAND",
      priority: 5,
      formatCell: ({ entry }) => formatTicketCommand(entry.ticket),
    },
    { id: "run", title: "RUN", isRandom: true, priority: 3, formatCell: ({ entry }) => entry.run },
    { id: "label", title: "LABEL", priority: 6, formatCell: ({ entry }) => entry.ticket?.label ?? "" },
    { id: "user", title: "USER", priority: 9, formatCell: ({ entry }) => entry.ticket?.user ?? "" },
  ],
  sort: "-waits",
  getKey: ({ entry }) => entry.key,
  getFacets: ({ entry, drains }) => ({
    states: [getEntryState(entry), ...(drains.length > 0 ? ["drained"] : [])],
    hosts: entry.ticket === undefined ? [] : [entry.ticket.host],
    holders: [formatTicketOwner(entry)],
  }),
  getSubject: ({ kind, name, entry }) => ({ kind: "run", name: entry.run, queue: { kind, name } }),
  toJson: ({ kind, name, position, drains, entry }) => ({
    kind,
    name,
    position,
    ...toQueueEntryJson(entry),
    drains: drains.map(toDrainJson),
  }),
  buildRows: ({ kind, name, entries }, viewContext) =>
    entries.flatMap((entry, index) => {
      const { state } = entry.ticket ?? {};
      if (state === "held" || state === "grace") return [];
      const drains = listStoppingDrains({ host: entry.ticket?.host, queues: [{ kind, name }] }, viewContext);
      return [{ entry, kind, name, position: index + 1, drains }];
    }),
  empty: "No run waits. To see who holds what: signalbox ls",
};

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
