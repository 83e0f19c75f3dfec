import { formatBriefDuration, type WallTime } from "../../core/base/clock.ts";
import { quoteShellWord, quoteShellWords } from "../../core/base/shell.ts";
import { collectTexts, formatShortList, pluralize } from "../../core/base/text.ts";
import type { ResourceConfig } from "../../core/fleet/resources.ts";
import { isHolding, sumHeldUnits } from "../../core/protocol/admission.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import type { PastRun } from "../../core/protocol/history.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import type { QueueEntry } from "../../core/protocol/ticket.ts";
import { getEntryState, getHeldSince } from "../../site/state/claims.ts";
import { findPlainTotal } from "../../site/state/eviction-preview.ts";
import type { TimeSpan } from "../../site/state/forecast.ts";
import { computeResourceUse, listPastUses, type PastUse } from "../../site/state/resource-use.ts";
import {
  computeQueueTally,
  findHostResource,
  findResourceTotal,
  getShareTone,
  listTemplateShares,
  type QueueTally,
  renderShareBar,
  type TemplateShare,
} from "../../site/state/shares.ts";
import { buildQueueId, findNamedQueue, type NamedQueue, type Snapshot } from "../../site/state/snapshot.ts";
import type { Tone } from "../../site/state/subject.ts";
import {
  buildViewContext,
  CONTEXT_COLLECTIONS,
  listStoppingDrains,
  type ViewContext,
} from "../../site/state/view-context.ts";
import { formatTicketOwner } from "./claims.ts";
import {
  createAgeColumn,
  createNoteColumn,
  createNumberColumn,
  createOwnerColumn,
  createRightColumn,
  createStateColumn,
  createTextColumn,
  formatAge,
  formatDrainNote,
  formatFirstAndMore,
  formatIfKnown,
  formatPairs,
  formatTicketCommand,
  getStateTone,
  judgeHoldAge,
  judgeWaitAge,
  shortenOwner,
} from "./columns.ts";
import {
  buildAuditTable,
  buildDetailTable,
  buildFacts,
  type Detail,
  type DetailContext,
  type DetailTarget,
  type Fact,
  type Section,
} from "./detail.ts";
import { formatDrainLine, formatReason } from "./drain-lines.ts";
import { DRAIN_JSON } from "./drains.ts";
import { ASCII_DRAWING, UNICODE_DRAWING } from "./drawing.ts";
import { buildLastRunOutput, buildPastRunTable, buildPastUseTable } from "./history.ts";
import {
  describeChoice,
  describeCount,
  describeField,
  describeFieldsOf,
  describeNumber,
  describeObject,
  describePart,
  describeParts,
  describeRevision,
  describeText,
} from "./json.ts";
import { formatMacroDispute } from "./macro-dispute.ts";
import {
  buildTicketFacts,
  createRunnerColumn,
  describeQueueKind,
  formatUnits,
  TICKET_JSON,
  WAITER_FIELDS,
} from "./runs.ts";
import type { QueueView, TableColumn } from "./view.ts";

/** Columns shared by the tables of locks, of resources and of both. */
const QUEUE_COLUMNS = {
  kind: createTextColumn("kind", 3, ({ kind }) => kind),
  name: createTextColumn("name", 1, ({ name }) => name),
  state: createTextColumn("state", 1, (row) => listStates(row).join(", "), {
    isMarked: true,
    getTone: ({ state }) => getStateTone(state),
  }),
  holder: createTextColumn(
    "holder",
    2,
    (row) => formatHostCount(row) ?? formatFirstAndMore(row.holders.map(formatTicketOwner)),
    {
      formatBriefCell: (row) =>
        formatHostCount(row) ??
        formatFirstAndMore(row.holders.map((one) => shortenOwner(formatTicketOwner(one)))),
    },
  ),
  since: createAgeColumn("since", 2, ({ holders: [first] }) => getHeldSince(first?.ticket), judgeHoldAge),
  units: createRightColumn(
    "units",
    2,
    ({ kind, used, total }) => (kind === "lock" ? "" : `${used}/${total ?? "?"}`),
    {
      getSortValue: ({ used, total = used }) => used / Math.max(1, total),
      getShare: ({ used, total }) => ({ used, total }),
      getTone: (row) => getUnitsTone(row.used, row.total, countWaiters(row)),
      getMeasure: ({ used }) => used,
    },
  ),
  waiting: createNumberColumn("waiting", 2, countWaiters, { tones: ["quiet", "waiting"] }),
  longest: createAgeColumn("longest", 5, findLongestSince, judgeWaitAge),
  command: createTextColumn("command", 4, ({ holders: [first] }) => formatTicketCommand(first?.ticket)),
  label: createTextColumn("label", 6, ({ holders: [first] }) => first?.ticket?.label),
  user: createTextColumn("user", 9, ({ holders: [first] }) => first?.ticket?.user),
  run: createTextColumn("run", 9, ({ holders: [first] }) => first?.run, { isRandom: true }),
  token: createNumberColumn("token", 9, ({ holders: [first] }) => first?.createRevision),
  order: createNumberColumn("order", 9, ({ configured }) => configured?.order, {
    getSortValue: ({ configured }) => configured?.order ?? Number.POSITIVE_INFINITY,
  }),
  about: createTextColumn("about", 6, ({ configured }) => configured?.note),
  last: createTextColumn(
    "last",
    5,
    ({ last }, wall) =>
      last === undefined
        ? ""
        : `${last.exit === 0 ? "ok" : `exit ${last.exit}`} ${formatBriefDuration(wall - last.endedAt)} ago`,
    {
      isTimed: true,
      getSortValue: ({ last }) => -(last?.endedAt ?? Number.NEGATIVE_INFINITY),
      getTone: ({ last }) => (last === undefined || last.exit === 0 ? "quiet" : "problem"),
    },
  ),
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
    getTone: () => "accent",
  };
}

/** Returns the earliest time at which a waiter was enqueued. */
function findLongestSince({ waiters, sum }: QueueRow): WallTime | undefined {
  return waiters.reduce<number | undefined>((least, { ticket }) => {
    const at = ticket?.enqueuedAt;
    return at === undefined || (least !== undefined && least <= at) ? least : at;
  }, sum?.since);
}

function countWaiters({ waiters, sum }: QueueRow): number {
  return sum?.waiting ?? waiters.length;
}

function formatHostCount({ sum }: QueueRow): string | undefined {
  return sum && pluralize(sum.hosts, "host");
}

/**
 * Lists the state; `shared`, if its holders share the lock; and `drained`: holders of a drained lock or resource continue, but
 * nobody else is granted.
 */
function listStates({ state, holders, drains }: QueueRow): string[] {
  const shared = holders.some(({ ticket }) => ticket?.shared) ? ["shared"] : [];
  const drained = drains.length === 0 || state === "drained" ? [] : ["drained"];
  return [state, ...shared, ...drained];
}

function formatNote({ kind, holders, waiters, drains }: QueueRow): string {
  const asked = [...holders, ...waiters].find(({ ticket }) => ticket?.reset !== undefined)?.ticket?.reset;
  const malformed = [...holders, ...waiters].filter(({ ticket }) => ticket === undefined).length;
  return collectTexts([
    drains.length > 0 && formatDrainNote(drains, kind),
    asked && `reset by ${asked.by}${formatReason(asked.why)}`,
    malformed > 0 && `${malformed} malformed`,
  ]).join("; ");
}

const CONFIGURED_JSON = describeObject<ResourceConfig>("configured", "Configuration of a resource.", {
  "total?": describeText("total units: a number, or an expression with macros", "total"),
  "order?": describeNumber("sort key in listings, smallest first", "order"),
  "note?": describeText("note", "note"),
});

const SUM_JSON = describeObject<TemplateSum>("sum", "What a name with host macros sums up.", {
  hosts: describeCount("number of hosts that have the resource", "hosts"),
  waiting: describeCount("number of tickets that wait for units on them", "waiting"),
});

/**
 * The state of a lock or resource. `admitted`: the first run is admitted, and waits for its leases. `waiting`: nobody
 * holds it, and a run is about to be granted. `drained`: nobody holds it, and nobody can be granted.
 */
const QUEUE_STATES = [
  "held",
  "waiting",
  "grace",
  "admitted",
  "drained",
  "resetting",
  "malformed",
  "free",
] as const;
type QueueState = (typeof QUEUE_STATES)[number];

/** What all views of locks and resources share. */
export const QUEUE_VIEW = {
  of: "queue",
  hasEmpty: true,
  getKey: ({ kind, name }) => `${kind}/${name}`,
  getFacets: (line) => ({
    states: listStates(line),
    get hosts() {
      return [...line.holders, ...line.waiters].flatMap(({ ticket }) => ticket?.host ?? []);
    },
    holders: line.holders.map(formatTicketOwner),
  }),
  getSubject: ({ kind, name }) => ({ kind, name }),
  json: describeObject("lockOrResource", "A lock or a resource.", {
    kind: describeQueueKind(({ kind }) => kind),
    name: describeText("name of the lock or resource", "name"),
    state: describeChoice(
      QUEUE_STATES,
      "state of the queue. `waiting`: no run holds it, and one is about to be granted; `admitted`: no run holds it, and the first one waits for its leases; `drained`: no run holds it, and none can be granted; `resetting`: a holder was asked to give it up; `grace`: the commands of all holders have ended; `malformed`: the first ticket cannot be read. A queue that is drained while it is held is `held`; see `drains`",
      "state",
    ),
    used: describeCount(
      "units held; 1 for a lock, also if several runs share it; for a name with host macros, the sum of all hosts",
      "used",
    ),
    "total?": describeCount(
      "total units: from the configuration, or else from a ticket; 1 for a lock; for a name with host macros, the sum of all hosts",
      "total",
    ),
    "configured?": describePart(CONFIGURED_JSON, ({ configured }) => configured),
    "sum?": describePart(SUM_JSON, ({ sum }) => sum),
    holders: describeParts(TICKET_JSON, "tickets of the holders, oldest first", ({ holders }) => holders),
    waiters: describeParts(TICKET_JSON, "tickets of the waiters, in queue order", ({ waiters }) => waiters),
    drains: describeParts(
      DRAIN_JSON,
      "drains of this lock or resource, and of everything",
      ({ drains }) => drains,
    ),
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
    createTextColumn("kind", 4, ({ kind }) => kind),
    createTextColumn("name", 1, ({ name }) => name),
    createNumberColumn("position", 3, ({ position }) => position, { title: "POS" }),
    createOwnerColumn("who", 1, ({ entry }) => formatTicketOwner(entry)),
    createStateColumn(2, getStateTone, ({ entry }) => getEntryState(entry)),
    createAgeColumn("waits", 2, ({ entry }) => entry.ticket?.enqueuedAt, judgeWaitAge),
    createRightColumn("units", 4, ({ kind, entry }) => formatUnits(kind, entry), {
      getSortValue: ({ entry }) => entry.ticket?.count ?? 0,
      getMeasure: ({ entry }) => entry.ticket?.count,
    }),
    createNoteColumn(3, ({ kind, drains }) => formatDrainNote(drains, kind)),
    createTextColumn("command", 5, ({ entry }) => formatTicketCommand(entry.ticket)),
    createTextColumn("run", 3, ({ entry }) => entry.run, { isRandom: true }),
    createTextColumn("label", 6, ({ entry }) => entry.ticket?.label),
    createTextColumn("user", 9, ({ entry }) => entry.ticket?.user),
  ],
  sort: "-waits",
  getKey: ({ entry }) => entry.key,
  getFacets: ({ entry, drains }) => ({
    states: [getEntryState(entry), ...(drains.length > 0 ? ["drained"] : [])],
    hosts: entry.ticket === undefined ? [] : [entry.ticket.host],
    holders: [formatTicketOwner(entry)],
  }),
  getSubject: ({ kind, name, entry }) => ({ kind: "run", name: entry.run, queue: { kind, name } }),
  json: describeObject("waiter", "A waiting run in one queue.", {
    kind: describeQueueKind(({ kind }) => kind),
    name: describeText("name of the lock or resource", "name"),
    position: describeField(
      {
        type: "integer",
        minimum: 1,
        description: "position in the queue, from 1; tickets of holders count",
      },
      "position",
    ),
    ...describeFieldsOf(({ entry }: WaiterRow) => entry, {
      ...WAITER_FIELDS,
      token: describeRevision("`create_revision` of the ticket", "createRevision"),
    }),
    drains: describeParts(
      DRAIN_JSON,
      "drains that block it here: of the lock or resource, its host, its groups, or everything",
      ({ drains }) => drains,
    ),
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
  isByName: (column) => column === "kind",
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
  isByName: (column) => column === "name",
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
  isByName: (column, { resources }) =>
    column === "name" ||
    (column === "order" && [...resources.values()].every(({ value }) => value?.order === undefined)),
  buildRows: (queue, viewContext) => (queue.kind === "resource" ? [buildQueueRow(queue, viewContext)] : []),
  empty:
    "No units are held or waited for. Try: signalbox run --lease db=2:10 -- sleep 60 (--all also lists what is configured)",
};

/** One lock or resource. */
interface QueueRow {
  kind: QueueKind;
  name: string;
  state: QueueState;
  /** Oldest first. */
  holders: readonly QueueEntry[];
  waiters: readonly QueueEntry[];
  /** Units held (`used`), and all units (`total`): as `findResourceTotal` finds them; 1 for a lock. */
  used: number;
  total: number | undefined;
  /** Configuration of the resource, if there is one and it can be read. */
  configured: ResourceConfig | undefined;
  /** Drains of the lock or resource itself, or of everything. */
  drains: readonly Drain[];
  /** The last run, for a lock that nobody holds or waits for, if its history was read. */
  last?: PastRun;
  /** Its finished runs, newest first, for a lock with a history that was read. */
  past?: readonly PastRun[];
  /** For a resource with host macros in its name: what its resources on the hosts add up to. */
  sum?: TemplateSum;
}

/** The resources that a name with host macros stands for, such as `FQDN_mem`, besides their units. */
interface TemplateSum {
  hosts: number;
  waiting: number;
  /** When the longest wait began. */
  since: WallTime | undefined;
}

/** What a row depends on, besides its queue. */
type RowInputs = Pick<QueueRow, "drains" | "configured" | "total" | "past">;

/** The last row of each queue. Several tables show the same queues, and there may be ten thousand. */
const lastRows = new WeakMap<NamedQueue, QueueRow>();

/** Builds the row of a lock or resource. Returns the same row as before while nothing has changed that it depends on. */
export function buildQueueRow(queue: NamedQueue, viewContext: ViewContext): QueueRow {
  const inputs = findInputs(queue, viewContext);
  const last = lastRows.get(queue);
  if (last !== undefined && isSameInput(last, inputs)) return last;
  const row = createRow(queue, inputs);
  lastRows.set(queue, row);
  return row;
}

/** Finds what the queue of a resource adds up to; undefined if it is empty. */
type TallyFinder = (name: string) => QueueTally | undefined;

export function createTallyFinder({ queues }: Snapshot): TallyFinder {
  return (name) => {
    const queue = queues.get(buildQueueId("resource", name));
    return queue && computeQueueTally(queue);
  };
}

/**
 * Builds the row of a lock or resource with an empty queue.
 * @param findTally  for a resource with host macros in its name: the row sums its resources on the hosts
 */
export function buildEmptyQueueRow(
  kind: QueueKind,
  name: string,
  viewContext: ViewContext,
  findTally: TallyFinder = () => undefined,
): QueueRow {
  const [last] = (kind === "lock" && viewContext.histories?.get(name)) || [];
  const queue: NamedQueue = { kind, name, entries: [] };
  const row = createRow(queue, findInputs(queue, viewContext));
  if (kind === "lock") return { ...row, ...(last && { last }) };
  const shares = listTemplateShares(viewContext, name, findTally);
  return shares.length === 0 ? row : { ...row, ...sumShares(shares, row) };
}

function sumShares(shares: readonly TemplateShare[], { state }: QueueRow): Partial<QueueRow> {
  const totals = shares.flatMap(({ total }) => total ?? []);
  const begins = shares.flatMap(({ since }) => since ?? []);
  const add = (sum: number, value: number) => sum + value;
  const used = shares.map((share) => share.used).reduce(add, 0);
  const waiting = shares.map((share) => share.waiting).reduce(add, 0);
  const busy = used > 0 ? "held" : state === "free" && waiting > 0 ? "waiting" : state;
  return {
    state: busy,
    used,
    total: totals.length === 0 ? undefined : totals.reduce(add, 0),
    sum: { hosts: shares.length, waiting, since: begins.length === 0 ? undefined : Math.min(...begins) },
  };
}

function findInputs(queue: NamedQueue, viewContext: ViewContext): RowInputs {
  const { drains, resources, histories } = viewContext;
  const { kind, name } = queue;
  const drained = filterDrains(queue, drains);
  if (kind === "resource") {
    const tally = queue.entries.length === 0 ? undefined : computeQueueTally(queue);
    const { total } = findResourceTotal(viewContext, name, tally);
    return { drains: drained, configured: resources.get(name)?.value, total };
  }
  const past = histories?.get(name);
  return { drains: drained, configured: undefined, total: 1, ...(past !== undefined && { past }) };
}

function isSameInput(row: QueueRow, { drains, configured, total, past }: RowInputs): boolean {
  const isSameDrains =
    row.drains.length === drains.length && row.drains.every((drain, at) => drain === drains[at]);
  return isSameDrains && row.configured === configured && row.total === total && row.past === past;
}

function createRow({ kind, name, entries }: NamedQueue, inputs: RowInputs): QueueRow {
  const { drains, configured, total, past } = inputs;
  const [holders, waiters] = splitByState(entries);
  // One literal: an object that grows keeps its further properties in a block of their own.
  const row: QueueRow = {
    kind,
    name,
    state: computeQueueState(entries, holders, drains),
    holders,
    waiters,
    used: sumHeldUnits(holders),
    total,
    configured,
    drains,
  };
  return past === undefined ? row : { ...row, past };
}

/** Splits a queue in lists of their exact length: those that `filter` returns have room for more. */
function splitByState(entries: readonly QueueEntry[]): [holders: QueueEntry[], waiters: QueueEntry[]] {
  const holders = entries.filter(isHolding);
  const waiters = holders.length === 0 ? entries : entries.filter((entry) => !isHolding(entry));
  return [holders.slice(), waiters.slice()];
}

const NO_DRAINS: readonly Drain[] = [];

function filterDrains({ kind, name }: NamedQueue, drains: readonly Drain[]): readonly Drain[] {
  const own = drains.filter(
    (drain) => drain.scope === "all" || (drain.scope === kind && drain.name === name),
  );
  return own.length === 0 ? NO_DRAINS : own;
}

function computeQueueState(
  entries: readonly QueueEntry[],
  holding: readonly QueueEntry[],
  drains: readonly Drain[],
): QueueState {
  const [first] = entries;
  if (first !== undefined && first.ticket === undefined) return "malformed";
  if (holding.some(({ ticket }) => ticket?.reset !== undefined)) return "resetting";
  if (holding.length > 0) return holding.every(({ ticket }) => ticket?.state === "grace") ? "grace" : "held";
  if (drains.length > 0) return "drained";
  if (first === undefined) return "free";
  return first.ticket?.state === "admitted" ? "admitted" : "waiting";
}

/** Signs from low to high. The lowest one is also for zero. */
const [LEVEL_SIGNS, ASCII_LEVEL_SIGNS] = ["▁▂▃▅▇", "_.-=#"];

/** Number of runs in a cell of a table. */
const MAX_RUNS_IN_CELL = 12;

/** The durations whose course is shown. */
type TrendField = "held" | "waited";

/** Draws values as bars, relative to the largest. @param values  the oldest first */
export function renderSparkline(values: readonly number[], isAscii = false): string {
  const signs = isAscii ? ASCII_LEVEL_SIGNS : LEVEL_SIGNS;
  const most = Math.max(0, ...values);
  const last = signs.length - 1;
  return values
    .map((value) => signs[most === 0 ? 0 : Math.round((Math.max(0, value) / most) * last)] ?? signs[0])
    .join("");
}

/** Draws the last runs of a lock for a cell. @param runs  newest first, as in the history */
export function renderTrendCell(
  runs: readonly PastRun[] | undefined,
  field: TrendField,
  isAscii = false,
): string {
  return renderSparkline(listDurations(runs?.slice(0, MAX_RUNS_IN_CELL) ?? [], field), isAscii);
}

/** Draws all runs of a history, with the shortest, median and longest. Undefined with fewer than two runs. */
export function describeTrend(
  runs: readonly PastRun[],
  field: TrendField,
  isAscii = false,
): string | undefined {
  if (runs.length < 2) return undefined;
  const durations = listDurations(runs, field);
  const sorted = [...durations].sort((a, b) => a - b);
  const [least, middle, most] = [sorted[0], sorted[Math.ceil(sorted.length / 2) - 1], sorted.at(-1)].map(
    (ms) => formatBriefDuration(ms ?? 0),
  );
  return `${renderSparkline(durations, isAscii)} min ${least}, median ${middle}, max ${most} of ${runs.length} runs`;
}

function listDurations(runs: readonly PastRun[], field: TrendField): number[] {
  return runs.map((run) => Math.max(0, run[field])).reverse();
}

/**
 * Builds rows for locks or resources with empty queues: those that are drained, and those in `known`.
 * @param hasRow  whether a name already has a row
 * @param known  names with a history or a configuration; empty unless all are requested
 * @param findTally  finds the tallies of resources
 */
export function buildEmptyTableRows(
  kind: QueueKind,
  hasRow: (name: string) => boolean,
  known: Iterable<string>,
  viewContext: ViewContext,
  findTally: TallyFinder,
): QueueRow[] {
  const drained = viewContext.drains.filter(({ scope }) => scope === kind).map(({ name }) => name);
  const names = new Set([...drained, ...known]);
  return [...names]
    .filter((name) => !hasRow(name))
    .map((name) => buildEmptyQueueRow(kind, name, viewContext, findTally));
}

/** Builds the detail of a lock or resource: holders and their liveness, waiters, history and operator actions. */
export function buildQueueDetail(
  snapshot: Snapshot,
  kind: QueueKind,
  name: string,
  detailContext: DetailContext,
): Detail {
  const { wall } = detailContext;
  const entries = findNamedQueue(snapshot, kind, name)?.entries ?? [];
  const viewContext = buildViewContext(snapshot, wall);
  const row =
    entries.length === 0
      ? buildEmptyQueueRow(kind, name, viewContext, createTallyFinder(snapshot))
      : buildQueueRow({ kind, name, entries }, viewContext);
  const [first, ...others] = entries.filter(isHolding);
  const isLock = kind === "lock";
  const uses = isLock ? [] : findPastUses(snapshot, name);
  return {
    heading: `${kind} ${name}: ${formatQueueState(row)}`,
    tone: getStateTone(row.state),
    facts: [
      ...(isLock && first !== undefined ? buildTicketFacts(first, detailContext) : []),
      ...(isLock ? [] : buildResourceFacts(snapshot, name, row, entries)),
      ...(isLock ? buildTrendFacts(snapshot.histories.get(name) ?? []) : buildUseFacts(uses, entries, wall)),
      ...buildFacts(row.drains.map((drain) => ["drain", formatDrainLine(drain), "problem"])),
    ],
    sections: [
      ...(isLock ? buildLastRunOutput(snapshot.histories.get(name) ?? []) : []),
      ...(isLock && others.length === 0
        ? []
        : buildHolderTable({ kind, name }, entries.filter(isHolding), detailContext)),
      ...buildWaiterTable(row, entries, detailContext, viewContext),
      ...(row.sum === undefined ? [] : buildTemplateTable(snapshot, name)),
      ...buildPastRunTable(name, isLock ? (snapshot.histories.get(name) ?? []) : []),
      ...buildPastUseTable(name, uses),
      ...(isLock && entries.length === 0 ? buildRerunSection(name, snapshot) : []),
      ...buildAuditTable(snapshot, (target) => target === `${kind} ${name}`),
    ],
  };
}

/** Finds the last uses of a resource, newest first, in the histories that were read. */
export function findPastUses({ histories, outcomes }: Snapshot, name: string): PastUse[] {
  const runs = new Map([...outcomes].map(([id, history]) => [id, history.runs]));
  return listPastUses({ histories, outcomes: runs }, name).get(name) ?? [];
}

/** Number of parts of the time in a drawing of units. */
const USE_STEPS = 24;

/** How far such a drawing goes back at most, ms. */
const LONGEST_USE = 7 * 86_400_000;

/** Returns the time since the oldest use that is known, a week at most. */
export function findUseSpan(uses: readonly PastUse[], wall: WallTime): TimeSpan {
  const oldest = uses.reduce((least, { enqueuedAt }) => Math.min(least, enqueuedAt), wall);
  return { from: Math.max(oldest, wall - LONGEST_USE), until: wall };
}

/** Builds the facts about how many units were held and waited for since the oldest use that is known. */
function buildUseFacts(uses: readonly PastUse[], entries: readonly QueueEntry[], wall: WallTime): Fact[] {
  if (uses.length === 0) return [];
  const span = findUseSpan(uses, wall);
  const { steps, waiting, peak, average } = computeResourceUse(uses, entries, span, USE_STEPS);
  const since = `in the last ${formatBriefDuration(wall - span.from)}`;
  const most = Math.max(...waiting);
  const draw = (label: string, values: readonly number[], text: string): Fact => ({
    label,
    value: `${renderSparkline(values)} ${text}`,
    ascii: `${renderSparkline(values, true)} ${text}`,
  });
  return [
    draw("units held", steps, `at most ${peak}, ${average.toFixed(1)} on average ${since}`),
    ...(most === 0 ? [] : [draw("waited for", waiting, `at most ${most} ${since}`)]),
  ];
}

/** Builds the facts about how long past runs held a lock, and waited for it. */
function buildTrendFacts(past: readonly PastRun[]): Fact[] {
  return (["held", "waited"] as const).flatMap((field) => {
    const value = describeTrend(past, field);
    return value === undefined ? [] : [{ label: field, value, ascii: describeTrend(past, field, true) }];
  });
}

/** Builds a section with the command to repeat the last run of a lock, as far as histories store it. */
export function buildRerunSection(lock: string, { histories }: Snapshot): Section[] {
  const [last] = histories.get(lock) ?? [];
  if (last === undefined) return [];
  const leases = Object.entries(last.leases ?? {}).flatMap(([name, count]) => [
    "--lease",
    `${name}=${count}`,
  ]);
  const shared = last.shared ? ["--shared"] : [];
  const words = ["signalbox", "run", "--lock", lock, ...shared, ...leases, "--", last.command];
  const title = `run it again, on ${last.host} (its arguments and other options are not kept)`;
  return [{ kind: "lines", title, lines: [quoteShellWords(words)] }];
}

function formatQueueState(row: QueueRow): string {
  const { kind, used, total } = row;
  const units = kind === "lock" ? [] : [`${used} of ${total ?? "?"} units held`];
  return [...listStates(row), ...units].join(", ");
}

function buildResourceFacts(
  snapshot: Snapshot,
  name: string,
  { total }: QueueRow,
  entries: readonly QueueEntry[],
) {
  const { value, fault } = snapshot.resources.get(name) ?? {};
  const tally = createTallyFinder(snapshot)(name);
  const isDisputed = findResourceTotal(snapshot, name, tally).isDisputed === true;
  const origin = isDisputed ? undefined : formatOrigin(snapshot, name);
  return buildFacts([
    ["total", origin ?? formatTotal(total, value?.total, fault), fault === undefined ? "plain" : "problem"],
    ["macros", isDisputed ? formatMacroDispute(snapshot, name) : undefined, "problem"],
    ["order", formatIfKnown(value?.order, String)],
    ["note", value?.note],
    ["totals differ", findTotalDisagreement(entries, findPlainTotal(snapshot, name)), "problem"],
  ]);
}

/** Formats how the total of a resource of a host is computed: `23 = int(24105/1024), from FQDN_mem`. */
function formatOrigin(snapshot: Snapshot, name: string): string | undefined {
  const { template, formula } = findHostResource(snapshot, name) ?? {};
  if (formula === undefined || snapshot.resources.get(name) !== undefined) return undefined;
  return `${formula}, from ${template}`;
}

/** Builds the table of the hosts that a resource with host macros in its name stands for. */
function buildTemplateTable(snapshot: Snapshot, template: string): Section[] {
  const shares = listTemplateShares(snapshot, template, createTallyFinder(snapshot));
  const getRecord = ({ host }: TemplateShare) => snapshot.hosts.get(host);
  const columns: TableColumn<TemplateShare>[] = [
    createOwnerColumn("host", 1, ({ host }) => host),
    createNumberColumn("cpu", 5, (share) => getRecord(share)?.cpu),
    createNumberColumn("memory", 5, (share) => getRecord(share)?.memMb, { title: "MEMMB" }),
    createTextColumn("macros", 6, (share) => formatPairs(getRecord(share)?.macros)),
    createTextColumn("total", 2, formatShareOrigin, {
      getTone: ({ total, isDisputed }) => (total === undefined || isDisputed ? "problem" : "plain"),
    }),
    createRightColumn("held", 1, ({ used, total }) => `${used}/${total ?? "?"}`, {
      getTone: ({ used, total, waiting }) => getUnitsTone(used, total, waiting),
    }),
    createTextColumn("", 3, (share) => renderShareBar(share, UNICODE_DRAWING.bar, BAR_WIDTH), {
      formatAsciiCell: (share) => renderShareBar(share, ASCII_DRAWING.bar, BAR_WIDTH),
      getTone: ({ used, total, waiting }) => getUnitsTone(used, total, waiting),
    }),
    createNumberColumn("waiting", 1, ({ waiting }) => waiting, { tones: ["quiet", "waiting"] }),
    createTextColumn("resource", 4, ({ name }) => name),
  ];
  return buildDetailTable("hosts", columns, shares, {
    most: MOST_HOSTS,
    all: "signalbox ls hosts --macros",
    getTarget: ({ name }) => ({ title: `resource ${name}`, subject: { kind: "resource", name } }),
  });
}

/** Formats where the total of a resource of a host comes from. */
export function formatShareOrigin({
  total,
  formula = "as its runs state",
  isDisputed,
}: Pick<TemplateShare, "total" | "formula" | "isDisputed">): string {
  return isDisputed ? `${total}, processes of the host differ` : formula;
}

/** Maximum rows of the table of hosts. */
const MOST_HOSTS = 500;

const BAR_WIDTH = 8;

function formatTotal(
  total: number | undefined,
  configured: string | undefined,
  fault: string | undefined,
): string | undefined {
  if (fault !== undefined) return `configured, but ${fault}`;
  if (configured !== undefined) return `${configured}, configured`;
  return total === undefined ? undefined : `${total}, as stated by its runs`;
}

/** Formats which runs state a different total than others or than the configuration; undefined if all agree. */
function findTotalDisagreement(
  entries: readonly QueueEntry[],
  configured: number | undefined,
): string | undefined {
  const byTotal = new Map<number, string[]>();
  for (const entry of entries) {
    const { total } = entry.ticket ?? {};
    if (total !== undefined) byTotal.set(total, [...(byTotal.get(total) ?? []), formatTicketOwner(entry)]);
  }
  const totals = [...byTotal].sort(([a], [b]) => a - b);
  const odd = totals.filter(([total]) => total !== configured);
  if (configured === undefined ? totals.length < 2 : odd.length === 0) return undefined;
  return odd.map(([total, who]) => `${total} by ${formatShortList(who, 2)}`).join("; ");
}

function buildTicketTarget(queue: { kind: QueueKind; name: string }, { run }: QueueEntry): DetailTarget {
  return { title: `run ${run}`, subject: { kind: "run", name: run, queue } };
}

function buildHolderTable(
  queue: { kind: QueueKind; name: string },
  holders: readonly QueueEntry[],
  { wall, sessions }: DetailContext,
) {
  const columns: TableColumn<QueueEntry>[] = [
    createOwnerColumn("who", 1, formatTicketOwner),
    createRightColumn("units", 1, (entry) => formatUnits(queue.kind, entry)),
    createStateColumn(2, getStateTone, getEntryState),
    createRightColumn("for", 2, (entry) => formatTicketAge(entry, wall)),
    createRunnerColumn(2, sessions, (entry) => entry),
    createTextColumn("command", 5, ({ ticket }) => formatTicketCommand(ticket)),
    createTextColumn("run", 3, ({ run }) => run),
  ];
  return buildDetailTable("holders", columns, holders, {
    getTarget: (entry) => buildTicketTarget(queue, entry),
  });
}

function buildWaiterTable(
  row: QueueRow,
  entries: readonly QueueEntry[],
  { wall, sessions }: DetailContext,
  viewContext: ViewContext,
) {
  const { kind, name } = row;
  const waiters = entries.filter((entry) => !isHolding(entry));
  const findProblem = (entry: QueueEntry) => findWaiterProblem(entry, row, viewContext);
  const columns: TableColumn<QueueEntry>[] = [
    createNumberColumn("place", 1, (entry) => entries.indexOf(entry) + 1),
    createOwnerColumn("who", 1, formatTicketOwner),
    createRightColumn("units", kind === "lock" ? 8 : 1, (entry) => formatUnits(kind, entry)),
    createStateColumn(1, getStateTone, getEntryState),
    createRightColumn("waits", 2, (entry) => formatTicketAge(entry, wall)),
    createRunnerColumn(2, sessions, (entry) => entry),
    createTextColumn("command", 5, ({ ticket }) => formatTicketCommand(ticket)),
    createTextColumn("run", 3, ({ run }) => run),
    createTextColumn("note", 2, (entry) => findProblem(entry) ?? entry.ticket?.label, {
      getTone: (entry) => (findProblem(entry) === undefined ? "plain" : "problem"),
    }),
  ];
  return buildDetailTable("queue", columns, waiters, {
    all: `signalbox ls queues --filter ${quoteShellWord(name)}`,
    getTarget: (entry) => buildTicketTarget({ kind, name }, entry),
  });
}

/** Finds what keeps a waiter: it cannot be read, was asked to end, or is drained by host or group. */
function findWaiterProblem(
  { ticket, key }: QueueEntry,
  { kind, name, drains }: QueueRow,
  viewContext: ViewContext,
): string | undefined {
  if (ticket === undefined) return `key ${key}`;
  if (ticket.reset !== undefined) return `asked to end by ${ticket.reset.by}`;
  const [drain] = listStoppingDrains({ host: ticket.host, queues: [{ kind, name }] }, viewContext).filter(
    (one) => !drains.includes(one),
  );
  return drain && formatDrainLine(drain);
}

function formatTicketAge({ ticket }: QueueEntry, wall: WallTime): string {
  return formatAge(getHeldSince(ticket), wall);
}
