import { formatBriefDuration } from "../../base/duration.ts";
import { formatDrainLine } from "../preview/eviction-preview-text.ts";
import type { QueueRow } from "../rows/queue-row.ts";
import { getShareTone } from "../rows/shares.ts";
import { renderTrendCell, type TrendField } from "../rows/trend.ts";
import { formatTicketOwner } from "../snapshot/claims.ts";
import type { QueueView, TableColumn, Tone, ViewContext } from "../views/view.ts";
import {
  formatDrainNote,
  formatFirstAndMore,
  formatTicketCommand,
  getHeldSince,
  getStateTone,
  judgeHoldAge,
  judgeWaitAge,
  shortenOwner,
  toDrainJson,
  toQueueEntryJson,
} from "./cells.ts";
import { createAgeColumn, createNoteColumn, createNumberColumn } from "./columns.ts";

/** Columns shared by the tables of locks, of resources and of both. */
export const QUEUE_COLUMNS = {
  kind: { id: "kind", title: "KIND", priority: 3, formatCell: ({ kind }) => kind },
  name: { id: "name", title: "NAME", priority: 1, formatCell: ({ name }) => name },
  state: {
    id: "state",
    title: "STATE",
    isMarked: true,
    priority: 1,
    formatCell: (row) => listStates(row).join(", "),
    getTone: ({ state }) => getStateTone(state),
  },
  holder: {
    id: "holder",
    title: "HOLDER",
    priority: 2,
    formatCell: ({ holders }) => formatFirstAndMore(holders.map(formatTicketOwner)),
    formatBriefCell: ({ holders }) =>
      formatFirstAndMore(holders.map((one) => shortenOwner(formatTicketOwner(one)))),
  },
  since: createAgeColumn(
    "since",
    "SINCE",
    2,
    ({ holders: [first] }) => first && getHeldSince(first),
    judgeHoldAge,
  ),
  units: {
    id: "units",
    title: "UNITS",
    priority: 2,
    align: "right",
    formatCell: ({ kind, used, total }) => (kind === "lock" ? "" : `${used}/${total ?? "?"}`),
    getSortValue: ({ used, total = used }) => used / Math.max(1, total),
    getShare: ({ used, total }) => ({ used, total }),
    getTone: ({ used, total, waiters }) => getUnitsTone(used, total, waiters.length),
    getMeasure: ({ used }) => used,
  },
  waiting: createNumberColumn("waiting", "WAITING", 2, ({ waiters }) => waiters.length, {
    zero: "quiet",
    other: "waiting",
  }),
  longest: createAgeColumn("longest", "LONGEST", 5, findLongestSince, judgeWaitAge),
  command: {
    id: "command",
    title: "COMMAND",
    priority: 4,
    formatCell: ({ holders: [first] }) => formatTicketCommand(first?.ticket),
  },
  label: {
    id: "label",
    title: "LABEL",
    priority: 6,
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
  token: createNumberColumn("token", "TOKEN", 9, ({ holders: [first] }) => first?.createRevision),
  order: {
    id: "order",
    title: "ORDER",
    priority: 9,
    align: "right",
    formatCell: ({ configured }) => String(configured?.order ?? ""),
    getSortValue: ({ configured }) => configured?.order ?? Number.POSITIVE_INFINITY,
  },
  about: { id: "about", title: "ABOUT", priority: 6, formatCell: ({ configured }) => configured?.note ?? "" },
  last: {
    id: "last",
    title: "LAST",
    priority: 5,
    isTimed: true,
    formatCell: ({ last }, wall) =>
      last === undefined
        ? ""
        : `${last.exit === 0 ? "ok" : `exit ${last.exit}`} ${formatBriefDuration(wall - last.endedAt)} ago`,
    getSortValue: ({ last }) => -(last?.endedAt ?? Number.NEGATIVE_INFINITY),
    getTone: ({ last }) => (last === undefined || last.exit === 0 ? "quiet" : "problem"),
  },
  trend: createTrendColumn("trend", "TREND", "held"),
  waitTrend: createTrendColumn("waitTrend", "WAIT-TREND", "waited"),
  note: createNoteColumn(3, formatNote),
} as const satisfies Record<string, TableColumn<QueueRow>>;

/**
 * Returns the tone of units in use: none for normal use, because among many bright bars none would be seen. Waiters
 * matter only if all units are in use; otherwise they wait for something else, or for more than is left.
 */
function getUnitsTone(used: number, total: number | undefined, waiters: number): Tone {
  const isFull = total !== undefined && used >= total;
  const tone = getShareTone({ used, total, waiting: isFull ? waiters : 0 });
  return tone === "held" || tone === "free" ? "quiet" : tone;
}

/** Creates a column that draws the last runs of a lock. Its text is computed for the rows on the screen only. */
function createTrendColumn(id: string, title: string, field: TrendField): TableColumn<QueueRow> {
  return {
    id,
    title,
    priority: 9,
    formatCell: ({ past }) => renderTrendCell(past, field),
    formatAsciiCell: ({ past }) => renderTrendCell(past, field, true),
    getSortValue: ({ past }) => past?.[0]?.[field] ?? -1,
  };
}

/** Returns the earliest time at which a waiter was enqueued, ms since the epoch. */
function findLongestSince({ waiters }: QueueRow): number | undefined {
  return waiters.reduce<number | undefined>((least, { ticket }) => {
    const at = ticket?.enqueuedAt;
    return at === undefined || (least !== undefined && least <= at) ? least : at;
  }, undefined);
}

/** Lists the state and `drained`: holders of a drained lock or resource continue, but nobody else is granted. */
function listStates({ state, drains }: QueueRow): string[] {
  return drains.length === 0 || state === "drained" ? [state] : [state, "drained"];
}

function formatNote({ kind, holders, waiters, drains }: QueueRow): string {
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

/** What all views of locks and resources share. */
export const QUEUE_VIEW = {
  of: "queue",
  hasEmpty: true,
  getKey: ({ kind, name }) => `${kind}/${name}`,
  getFacets: (line) => ({
    states: listStates(line),
    hosts: [...line.holders, ...line.waiters].flatMap(({ ticket }) => ticket?.host ?? []),
    holders: line.holders.map(formatTicketOwner),
  }),
  getSubject: ({ kind, name }) => ({ kind, name }),
  toJson: ({ kind, name, state, used, total, configured, holders, waiters, drains }) => ({
    kind,
    name,
    state,
    used,
    total,
    configured,
    holders: holders.map(toQueueEntryJson),
    waiters: waiters.map(toQueueEntryJson),
    drains: drains.map(toDrainJson),
  }),
  listRemarks: formatWideDrains,
} as const satisfies Partial<QueueView<QueueRow>>;

/** Formats the drains that no row of a lock or resource shows: of everything, of hosts and of groups. */
function formatWideDrains({ drains }: ViewContext): string[] {
  const everything = drains.filter(({ scope }) => scope === "all");
  const others = drains.filter(({ scope }) => scope === "host" || scope === "group");
  const said =
    others.length > 1
      ? [`${others.length} hosts or groups are drained`]
      : others.map((one) => formatDrainLine(one));
  return [...everything.map((one) => formatDrainLine(one)), ...said].map(
    (line) => `${line} (signalbox ls drains)`,
  );
}
