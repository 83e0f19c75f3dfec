import { formatBriefDuration } from "../../base/duration.ts";
import { buildEmptyQueueRow, buildQueueRow, type QueueRow } from "../rows/queue-row.ts";
import type { Facets, Subject, TableColumn, ViewContext } from "../views/view.ts";
import {
  computeDurationWeight,
  formatAge,
  formatDrainNote,
  formatFirstAndMore,
  formatTicketCommand,
  getHeldSince,
  getStateTone,
  shortenOwner,
  toDrainJson,
  toQueuedRunJson,
} from "./cells.ts";

/** A row of a table of locks or resources. */
export type QueueTableRow = QueueRow;

/** Columns shared by the tables of locks, of resources and of both. */
export const QUEUE_COLUMNS = {
  kind: { id: "kind", title: "KIND", priority: 3, formatCell: ({ kind }) => kind },
  name: { id: "name", title: "NAME", priority: 1, formatCell: ({ name }) => name },
  state: {
    ...{
      id: "state",
      title: "STATE",
      isMarked: true,
      priority: 1,
      formatCell: (line) => listStates(line).join(", "),
    },
    getTone: ({ state }) => getStateTone(state),
  },
  holder: {
    ...{ id: "holder", title: "HOLDER", priority: 2 },
    formatCell: ({ holders }) => formatFirstAndMore(holders.map(({ who }) => who)),
    formatBriefCell: ({ holders }) => formatFirstAndMore(holders.map(({ who }) => shortenOwner(who))),
  },
  since: {
    ...{ id: "since", title: "SINCE", priority: 2, align: "right" },
    isTimed: true,
    formatCell: ({ holders: [first] }, wall) =>
      first === undefined ? "" : formatAge(getHeldSince(first), wall),
    getSortValue: ({ holders: [first] }) => computeDurationWeight(first && getHeldSince(first)),
  },
  units: {
    ...{ id: "units", title: "UNITS", priority: 2, align: "right" },
    formatCell: ({ kind, used, total }) => (kind === "lock" ? "" : `${used}/${total ?? "?"}`),
    getSortValue: ({ used, total = used }) => used / Math.max(1, total),
  },
  waiting: {
    ...{ id: "waiting", title: "WAITING", priority: 2, align: "right" },
    formatCell: ({ waiters }) => String(waiters.length),
    getSortValue: ({ waiters }) => waiters.length,
    getTone: ({ waiters }) => (waiters.length > 0 ? "waiting" : "quiet"),
  },
  longest: {
    ...{ id: "longest", title: "LONGEST", priority: 5, align: "right" },
    isTimed: true,
    formatCell: (line, wall) => (line.waiters.length === 0 ? "" : formatAge(findLongestSince(line), wall)),
    getSortValue: (line) => computeDurationWeight(findLongestSince(line)),
  },
  command: {
    ...{ id: "command", title: "COMMAND", priority: 4 },
    formatCell: ({ holders: [first] }) => formatTicketCommand(first?.ticket),
  },
  label: {
    ...{ id: "label", title: "LABEL", priority: 6 },
    formatCell: ({ holders: [first] }) => first?.ticket?.label ?? "",
  },
  user: {
    id: "user",
    title: "USER",
    priority: 9,
    formatCell: ({ holders: [first] }) => first?.ticket?.user ?? "",
  },
  run: {
    id: "run",
    title: "RUN",
    isRandom: true,
    priority: 9,
    formatCell: ({ holders: [first] }) => first?.run ?? "",
  },
  token: {
    ...{ id: "token", title: "TOKEN", priority: 9, align: "right" },
    formatCell: ({ holders: [first] }) => (first === undefined ? "" : String(first.token)),
    getSortValue: ({ holders: [first] }) => first?.token ?? 0n,
  },
  order: {
    ...{ id: "order", title: "ORDER", priority: 9, align: "right" },
    formatCell: ({ configured }) => String(configured?.order ?? ""),
    getSortValue: ({ configured }) => configured?.order ?? Number.POSITIVE_INFINITY,
  },
  about: { id: "about", title: "ABOUT", priority: 6, formatCell: ({ configured }) => configured?.note ?? "" },
  last: {
    ...{ id: "last", title: "LAST", priority: 5 },
    isTimed: true,
    formatCell: ({ last }, wall) =>
      last === undefined
        ? ""
        : `${last.exit === 0 ? "ok" : `exit ${last.exit}`} ${formatBriefDuration(wall - last.endedAt)} ago`,
    getSortValue: ({ last }) => -(last?.endedAt ?? Number.NEGATIVE_INFINITY),
    getTone: ({ last }) => (last === undefined || last.exit === 0 ? "quiet" : "problem"),
  },
  note: { id: "note", title: "NOTE", priority: 3, formatCell: formatNote, getTone: () => "problem" },
} as const satisfies Record<string, TableColumn<QueueTableRow>>;

/** Returns the earliest time at which a waiter was enqueued, ms since the epoch. */
function findLongestSince({ waiters }: QueueTableRow): number | undefined {
  return waiters.reduce<number | undefined>((least, { ticket }) => {
    const at = ticket?.enqueuedAt;
    return at === undefined || (least !== undefined && least <= at) ? least : at;
  }, undefined);
}

/** Lists the state and `drained`: holders of a drained lock or resource continue, but nobody else is granted. */
function listStates({ state, drains }: QueueTableRow): string[] {
  return drains.length === 0 || state === "drained" ? [state] : [state, "drained"];
}

function formatNote({ kind, holders, waiters, drains }: QueueTableRow): string {
  const asked = [...holders, ...waiters].find(({ ticket }) => ticket?.reset !== undefined)?.ticket?.reset;
  const malformed = [...holders, ...waiters].filter(({ ticket }) => ticket === undefined).length;
  return [
    ...(drains.length > 0 ? [formatDrainNote(drains, kind)] : []),
    ...(asked === undefined
      ? []
      : [`reset by ${asked.by}${asked.why === undefined ? "" : `: ${asked.why}`}`]),
    ...(malformed > 0 ? [`${malformed} malformed`] : []),
  ].join("; ");
}

export function buildQueueTableRow(
  ...[queue, scene]: [Parameters<typeof buildQueueRow>[0], ViewContext]
): QueueTableRow {
  return buildQueueRow(queue, scene);
}

export function buildEmptyTableRow(
  kind: QueueTableRow["kind"],
  name: string,
  viewContext: ViewContext,
): QueueTableRow {
  return buildEmptyQueueRow(kind, name, viewContext);
}

/** Row functions shared by all tables of queues. */
export const QUEUE_ROW_ACCESSORS = {
  getKey: ({ kind, name }: QueueTableRow): string => `${kind}/${name}`,
  getFacets: (line: QueueTableRow): Facets => ({
    states: listStates(line),
    hosts: [...line.holders, ...line.waiters].flatMap(({ ticket }) => ticket?.host ?? []),
    holders: line.holders.map(({ who }) => who),
  }),
  getSubject: ({ kind, name }: QueueTableRow): Subject => ({ kind, name }),
  toJson: ({
    kind,
    name,
    state,
    used,
    total,
    configured,
    holders,
    waiters,
    drains,
  }: QueueTableRow): object => ({
    ...{ kind, name, state, used, total, configured },
    holders: holders.map(toQueuedRunJson),
    waiters: waiters.map(toQueuedRunJson),
    drains: drains.map(toDrainJson),
  }),
};
