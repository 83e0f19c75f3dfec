import type { Drain } from "../../protocol/drain.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import { type QueuedRun, toQueuedRun } from "../rows/queue-row.ts";
import { getEntryState } from "../snapshot/claims.ts";
import { listStoppingDrains } from "../views/stopping-drains.ts";
import { CONTEXT_COLLECTIONS, type QueueView } from "../views/view.ts";
import {
  formatDrainNote,
  formatTicketCommand,
  getStateTone,
  judgeWaitAge,
  toDrainJson,
  toQueuedRunJson,
} from "./cells.ts";
import {
  createAgeColumn,
  createNoteColumn,
  createNumberColumn,
  createOwnerColumn,
  createStateColumn,
} from "./columns.ts";

/** A waiting ticket. */
interface WaiterRow extends QueuedRun {
  kind: QueueKind;
  name: string;
  /** Position among all tickets of the queue, from 1. */
  position: number;
  /** Drains that stop it in this queue: of the lock or resource, of its host or group, or of everything. */
  drains: readonly Drain[];
}

/** All waiting tickets, one per row, longest wait first. */
export const queuesView: QueueView<WaiterRow> = {
  ...{ of: "queue", hasEmpty: false, id: "queues", brief: "all runs that wait, the longest wait first" },
  collections: [...CONTEXT_COLLECTIONS, "locks", "resources"],
  columns: [
    { id: "kind", title: "KIND", priority: 4, formatCell: ({ kind }) => kind },
    { id: "name", title: "NAME", priority: 1, formatCell: ({ name }) => name },
    createNumberColumn("position", "POS", 3, ({ position }) => position),
    createOwnerColumn("who", "WHO", 1, ({ who }) => who),
    createStateColumn(2, getStateTone, getEntryState),
    createAgeColumn("waits", "WAITS", 2, ({ ticket }) => ticket?.enqueuedAt, judgeWaitAge),
    {
      ...{ id: "units", title: "UNITS", priority: 4, align: "right" },
      formatCell: ({ kind, ticket }) => (kind === "lock" ? "" : String(ticket?.count ?? "?")),
      getSortValue: ({ ticket }) => ticket?.count ?? 0,
      getMeasure: ({ ticket }) => ticket?.count,
    },
    createNoteColumn(3, ({ kind, drains }) => formatDrainNote(drains, kind)),
    { id: "command", title: "COMMAND", priority: 5, formatCell: ({ ticket }) => formatTicketCommand(ticket) },
    { id: "run", title: "RUN", isRandom: true, priority: 3, formatCell: ({ run }) => run },
    { id: "label", title: "LABEL", priority: 6, formatCell: ({ ticket }) => ticket?.label ?? "" },
    { id: "user", title: "USER", priority: 9, formatCell: ({ ticket }) => ticket?.user ?? "" },
  ],
  sort: "-waits",
  getKey: ({ kind, name, run }) => `${kind}/${name}/${run}`,
  getFacets: ({ ticket, who, drains }) => ({
    states: [getEntryState({ ticket }), ...(drains.length > 0 ? ["drained"] : [])],
    hosts: ticket === undefined ? [] : [ticket.host],
    holders: [who],
  }),
  getSubject: ({ kind, name, run }) => ({ kind: "run", name: run, queue: { kind, name } }),
  toJson: ({ kind, name, position, drains, ...waiter }) => ({
    ...{ kind, name, position, ...toQueuedRunJson(waiter), drains: drains.map(toDrainJson) },
  }),
  buildRows: ({ kind, name, entries }, viewContext) =>
    entries.flatMap((entry, index) => {
      const { state } = entry.ticket ?? {};
      if (state === "held" || state === "grace") return [];
      const drains = listStoppingDrains({ host: entry.ticket?.host, queues: [{ kind, name }] }, viewContext);
      return [{ ...toQueuedRun(entry), kind, name, position: index + 1, drains }];
    }),
  empty: "No run waits. To see who holds what: signalbox ls",
};
