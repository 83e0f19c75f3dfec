import { formatBriefDuration, formatInstant, type WallTime } from "../../core/base/clock.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import {
  describeVanished,
  formatLockName,
  type QueueEntry,
  type ResetRequest,
  type Ticket,
} from "../../core/protocol/ticket.ts";
import {
  type Claim,
  type ClaimEntry,
  findClaimTicket,
  getEntryState,
  getHeldSince,
  groupRuns,
  isHolder,
} from "../../site/state/claims.ts";
import { explain, findRunnerLiveness, type SessionLivenessMap } from "../../site/state/explain.ts";
import { isSessionRenewed } from "../../site/state/liveness.ts";
import type { Execution, Snapshot } from "../../site/state/snapshot.ts";
import type { Tone } from "../../site/state/subject.ts";
import { CONTEXT_COLLECTIONS, listDrainsOnClaim, type ViewContext } from "../../site/state/view-context.ts";
import { formatClaimOwner, formatExecutionOwner, formatTicketOwner } from "./claims.ts";
import {
  createAgeColumn,
  createNoteColumn,
  createNumberColumn,
  createOwnerColumn,
  createRightColumn,
  createStateColumn,
  createTextColumn,
  formatIfKnown,
  formatTicketCommand,
  getStateTone,
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
import { formatExplanation } from "./explanation.ts";
import {
  describeChoice,
  describeCount,
  describeFieldsOf,
  describeFlag,
  describeInstant,
  describeInteger,
  describeObject,
  describePart,
  describeParts,
  describeRevision,
  describeText,
  describeTexts,
} from "./json.ts";
import { formatScheduleTask } from "./schedules.ts";
import type { RowLists, SnapshotView, TableColumn } from "./view.ts";

/** A run: its tickets, or an occurrence of a schedule on a worker, or both for a task with leases. */
interface RunRow {
  claim: Claim;
  /** State of the ticket that is furthest from being held; `held` for a task without tickets. */
  state: string;
  command: string;
  /** Drains that stop it while it waits. */
  drains: readonly Drain[];
}

/** The states of a ticket in the order in which it passes through them; `malformed` if it cannot be read. */
const ENTRY_STATES = ["waiting", "admitted", "held", "grace", "malformed"];
const ADMITTED = "`admitted`: it could hold this queue, but waits in another queue";
const GRACE = "`grace`: its command has ended, and the ticket keeps its position";
const MALFORMED = "`malformed`: the ticket cannot be read, so most fields are missing";

const ENTRY_STATE = describeChoice<QueueEntry>(
  ENTRY_STATES,
  `state of the ticket. ${ADMITTED}; ${GRACE}; ${MALFORMED}`,
  getEntryState,
);

/** The state of a ticket that waits. */
const WAITER_STATE = describeChoice<QueueEntry>(
  ["waiting", "admitted", "malformed"],
  `state of the ticket. ${ADMITTED}; ${MALFORMED}`,
  getEntryState,
);

const RESET_JSON = describeObject<ResetRequest>(
  "reset",
  "An operator's request that a run give up its claim.",
  {
    by: describeText("user who made the request", "by"),
    at: describeInstant("time of the request", "at"),
    "why?": describeText("reason from the operator", "why"),
  },
);

// Fields of a ticket. All are missing if it cannot be read.
const OWNER_FIELDS = {
  "host?": describeText<Partial<Ticket>>("full name of the run's host", "host"),
  "pid?": describeInteger<Partial<Ticket>>("process id of the runner", "pid"),
  "user?": describeText<Partial<Ticket>>("user who started the run", "user"),
  "command?": describeText<Partial<Ticket>>("base name of the command", "command"),
  "args?": describeTexts<Partial<Ticket>>("arguments of the command, if the run records them", "args"),
  "label?": describeText<Partial<Ticket>>("label from `--label`", "label"),
};
const TIME_FIELDS = {
  "enqueuedAt?": describeInstant<Partial<Ticket>>("time of the claim", "enqueuedAt"),
  "grantedAt?": describeInstant<Partial<Ticket>>("time of the grant", "grantedAt"),
};
const RESET_FIELD = { "reset?": describePart(RESET_JSON, ({ reset }: Partial<Ticket>) => reset) };

const SHARES = "`true`: the run shares the lock with others that share it";

/** The fields of a ticket in its queue, but for its token. */
const ENTRY_FIELDS = {
  run: describeText<QueueEntry>("id of the run", "run"),
  state: ENTRY_STATE,
  ...describeFieldsOf(({ ticket }: QueueEntry) => ticket, {
    ...OWNER_FIELDS,
    "count?": describeCount("units requested; 1 for a lock", "count"),
    "total?": describeCount("total units, as computed by this run; 1 for a lock", "total"),
    "shared?": describeFlag(SHARES, "shared"),
    ...TIME_FIELDS,
    "until?": describeInstant("end of the `grace` state", "until"),
    ...RESET_FIELD,
  }),
};

/** The same of a ticket that waits. */
export const WAITER_FIELDS = { ...ENTRY_FIELDS, state: WAITER_STATE };

export const TICKET_JSON = describeObject<QueueEntry>("ticket", "A run's ticket in a queue.", {
  ...ENTRY_FIELDS,
  token: describeRevision(
    "`create_revision` of the ticket; on the lock ticket, the fencing token",
    "createRevision",
  ),
});

const CLAIM_ENTRY_JSON = describeObject<ClaimEntry>("stand", "A run's ticket, in brief.", {
  kind: describeQueueKind(({ queue }) => queue.kind),
  name: describeText("name of the lock or resource", ({ queue }) => queue.name),
  ...describeFieldsOf(({ entry }: ClaimEntry) => entry, {
    state: ENTRY_STATE,
    "count?": describeCount("units requested; 1 for a lock", ({ ticket }) => ticket?.count),
    "shared?": describeFlag(SHARES, ({ ticket }) => ticket?.shared),
  }),
});

export function describeQueueKind<T>(getKind: (source: T) => QueueKind) {
  return describeChoice<T>(["lock", "resource"], "kind of queue", getKind);
}

/** Returns what is known of a run from its tickets, or else from the worker that runs it. */
function findRunFacts({ claim }: RunRow): Partial<Ticket> | undefined {
  const { value } = claim.task ?? {};
  return findClaimTicket(claim) ?? (value && { host: value.host, pid: value.pid, grantedAt: value.since });
}

export const RUN_JSON = describeObject<RunRow>("run", "A run and all its tickets.", {
  run: describeText("id of the run", ({ claim }) => claim.run),
  state: describeChoice(ENTRY_STATES, "state of the ticket that is furthest from being held", "state"),
  ...describeFieldsOf(findRunFacts, { ...OWNER_FIELDS, ...TIME_FIELDS, ...RESET_FIELD }),
  token: describeRevision(
    "fencing token: `create_revision` of the lock ticket, or without a lock of the first lease ticket; for a task without leases, of its running key",
    ({ claim }) => getClaimToken(claim),
  ),
  tickets: describeParts(
    CLAIM_ENTRY_JSON,
    "tickets of the run; empty for a task of a worker that holds no leases",
    ({ claim }) => claim.entries,
  ),
  "schedule?": describeText("id of the schedule, if a worker runs it", ({ claim }) => claim.task?.id),
  "scheduled?": describeInstant(
    "nominal time of the occurrence, if a worker runs it",
    ({ claim }) => claim.task?.value?.scheduled,
  ),
  drains: describeParts(DRAIN_JSON, "drains that block the run, if it waits", ({ drains }) => drains),
});

/** All runs that hold or wait, one per row. Includes occurrences of schedules on workers. */
export const runsView: SnapshotView<RunRow> = {
  of: "snapshot",
  id: "runs",
  brief: "runs: everything that each of them holds or waits for",
  collections: [...CONTEXT_COLLECTIONS, "locks", "resources", "schedules", "runnings"],
  columns: [
    createTextColumn("run", 3, ({ claim }) => claim.run, { isRandom: true }),
    createOwnerColumn("who", 1, formatRunOwner),
    createStateColumn(1, getStateTone, ({ state }) => state),
    createTextColumn("lock", 2, ({ claim }) =>
      claim.entries.flatMap(({ queue }) => (queue.kind === "lock" ? [queue.name] : [])).join(" "),
    ),
    createTextColumn("schedule", 2, ({ claim }) => claim.task?.id),
    createTextColumn("leases", 2, ({ claim }) => formatLeases(claim)),
    createAgeColumn(
      "since",
      2,
      ({ claim }) => getHeldSince(findClaimTicket(claim)) ?? claim.task?.value?.since,
    ),
    createNoteColumn(4, ({ drains }) => drains.map(formatDrainLine).join("; ")),
    createTextColumn("command", 4, (row) => row.command),
    createTextColumn("label", 5, (row) => findRunFacts(row)?.label),
    createTextColumn("user", 6, (row) => findRunFacts(row)?.user),
    createNumberColumn("token", 7, ({ claim }) => getClaimToken(claim)),
  ],
  sort: "token",
  getKey: ({ claim }) => claim.run,
  getFacets: (row) => ({
    states: [row.state, ...(row.drains.length > 0 ? ["drained"] : [])],
    hosts: [findRunFacts(row)?.host ?? ""],
    holders: isHolder(row.claim) ? [formatRunOwner(row)] : [],
  }),
  getSubject: ({ claim: { run, entries, task } }) =>
    entries.length === 0 && task !== undefined
      ? { kind: "schedule", name: task.id }
      : { kind: "run", name: run },
  json: RUN_JSON,
  buildRows: (snapshot, viewContext) => buildRunLists(snapshot, viewContext).flat(),
  buildLists: buildRunLists,
  empty: "Nothing runs and nothing waits. Try: signalbox run --lock demo -- sleep 60",
};

function buildRunLists(snapshot: Snapshot, viewContext: ViewContext): RowLists<RunRow> {
  const { builtRows = new WeakMap() } = viewContext;
  return groupRuns(snapshot).map((claims) => {
    const known = builtRows.get(claims) as readonly RunRow[] | undefined;
    if (known !== undefined) return known;
    const rows = claims.map((claim) =>
      claim.task !== undefined && claim.entries.length === 0
        ? buildTaskRow(snapshot, claim, claim.task)
        : buildClaimRow(claim, listDrainsOnWaiter(claim, viewContext)),
    );
    builtRows.set(claims, rows);
    return rows;
  });
}

/** Builds the row of a claim. @param drains  drains that stop it while it waits */
export function buildClaimRow(claim: Claim, drains: readonly Drain[]): RunRow {
  const command = formatTicketCommand(findClaimTicket(claim));
  return { claim, command, state: computeClaimState(claim), drains };
}

/** Lists the drains that stop a claim while it waits. */
export function listDrainsOnWaiter(claim: Claim, viewContext: ViewContext): readonly Drain[] {
  return isHolder(claim) ? [] : listDrainsOnClaim(claim, viewContext);
}

function buildTaskRow({ schedules }: Snapshot, claim: Claim, task: Execution): RunRow {
  const definition = schedules.get(task.id)?.value;
  const words = formatScheduleTask({ id: task.id, definition });
  const state = task.fault === undefined ? "held" : "malformed";
  return { claim, command: words, state, drains: [] };
}

/** Returns the state of a claim: the state of the ticket that is furthest from being held. */
function computeClaimState(claim: Claim): string {
  const [only, ...others] = claim.entries;
  if (only !== undefined && others.length === 0) return getEntryState(only.entry);
  const states = new Set<string>(claim.entries.map(({ entry }) => getEntryState(entry)));
  return ["malformed", "waiting", "admitted", "held", "grace"].find((state) => states.has(state)) ?? "held";
}

/** Returns the fencing token: of the lock ticket, or else of the first resource ticket, or of the task. */
function getClaimToken({ entries, task }: Claim): bigint {
  const claimEntry = entries.find(({ queue }) => queue.kind === "lock") ?? entries[0];
  return claimEntry?.entry.createRevision ?? task?.token ?? 0n;
}

function formatLeases({ entries }: Claim): string {
  const leases = entries.filter(({ queue }) => queue.kind === "resource");
  return leases.map(({ queue, entry }) => `${queue.name}=${entry.ticket?.count ?? "?"}`).join(" ");
}

function formatRunOwner({ claim }: RunRow): string {
  const { entries, task } = claim;
  return entries.length === 0 && task ? formatExecutionOwner(task) : formatClaimOwner(claim);
}

/** Builds the detail of a run: what it holds or waits for, and why it waits. */
export function buildRunDetail(snapshot: Snapshot, claim: Claim, detailContext: DetailContext): Detail {
  const entry = findReadableEntry(claim) ?? claim.entries[0]?.entry;
  const own = entry === undefined ? [] : buildTicketFacts(entry, detailContext);
  const lines = isHolder(claim)
    ? []
    : formatExplanation(explain(snapshot, claim, detailContext.wall), detailContext);
  return {
    heading: `run ${claim.run}: ${computeClaimState(claim)}`,
    tone: getStateTone(computeClaimState(claim)),
    facts: [
      ...own.filter(({ label }) => label !== "run" && label !== "token"),
      ...buildFacts([["token", String(getClaimToken(claim))]]),
    ],
    sections: [
      ...(lines.length === 0 ? [] : [{ kind: "lines", title: "why", lines } as const]),
      ...buildDetailTable("tickets", TICKET_COLUMNS, claim.entries),
      ...buildAuditTable(snapshot, (target) => target === `run ${claim.run}`),
    ],
  };
}

const TICKET_COLUMNS: readonly TableColumn<ClaimEntry>[] = [
  createTextColumn("kind", 1, ({ queue }) => queue.kind),
  createTextColumn("name", 1, ({ queue }) => queue.name),
  createRightColumn("units", 2, ({ queue, entry }) => formatUnits(queue.kind, entry)),
  createStateColumn(1, getStateTone, ({ entry }) => getEntryState(entry)),
  createTextColumn(
    "place",
    2,
    ({ queue: { entries }, entry }) => `${entries.indexOf(entry) + 1} of ${entries.length}`,
  ),
  createTextColumn("key", 5, ({ entry }) => entry.key),
];

/** Formats the units of a ticket; of a lock, whether it is shared. */
export function formatUnits(kind: QueueKind, { ticket }: QueueEntry): string {
  if (kind === "lock") return ticket?.shared ? "shared" : "";
  return String(ticket?.count ?? "?");
}

interface ClaimTableOptions {
  /** All runs are on one host: the table omits the host column. */
  isOneHost?: true;
  /** Command that shows all runs. */
  all?: string;
}

/** Builds the table of the runs of a host or group: holders first, then in the order of claims. */
export function buildClaimTable(
  claims: readonly Claim[],
  { sessions }: DetailContext,
  { isOneHost, all }: ClaimTableOptions = {},
): Section[] {
  const getRank = (claim: Claim) => (isHolder(claim) ? 0 : 1);
  const compare = (a: Claim, b: Claim) =>
    getRank(a) - getRank(b) || (getClaimToken(a) < getClaimToken(b) ? -1 : 1);
  const columns: TableColumn<Claim>[] = [
    createTextColumn("run", 3, ({ run }) => run),
    ...(isOneHost ? [] : [HOST_COLUMN]),
    createNumberColumn("pid", 2, (claim) => findClaimTicket(claim)?.pid),
    createStateColumn(1, getStateTone, computeClaimState),
    createRunnerColumn(3, sessions, findReadableEntry),
    createTextColumn("holds or waits for", 1, ({ entries }) => entries.map(formatClaimEntry).join(" ")),
  ];
  return buildDetailTable("runs", columns, claims, { compare, all, getTarget: buildRunTarget });
}

const HOST_COLUMN = createOwnerColumn<Claim>("host", 1, (claim) => findClaimTicket(claim)?.host ?? "");

function buildRunTarget({ run, entries: [first] }: Claim): DetailTarget {
  return { title: `run ${run}`, subject: { kind: "run", name: run, ...(first && { queue: first.queue }) } };
}

function findReadableEntry({ entries }: Claim): QueueEntry | undefined {
  return entries.find(({ entry }) => entry.ticket !== undefined)?.entry;
}

function formatClaimEntry({ queue: { kind, name }, entry: { ticket } }: Claim["entries"][number]): string {
  if (kind === "lock") return formatLockName(name, ticket);
  return `${name}=${ticket?.count ?? "?"}`;
}

/** Builds the facts about the run of a ticket. */
export function buildTicketFacts(entry: QueueEntry, { wall, sessions, host }: DetailContext): Fact[] {
  const { ticket, run, createRevision } = entry;
  if (ticket === undefined) return buildFacts([["ticket", `${entry.key} cannot be read`, "problem"]]);
  const [runner, tone] = formatRunner(entry, sessions);
  const { grantedAt, enqueuedAt, state, until } = ticket;
  const since = getHeldSince(ticket);
  return buildFacts([
    [
      isHolding(entry) ? "holder" : "waiter",
      `${formatTicketOwner(entry)} (${formatTicketCommand(ticket)}), user ${ticket.user}`,
    ],
    ["label", ticket.label],
    ["run", run],
    ["token", String(createRevision)],
    ["since", `${formatInstant(since)}, for ${formatBriefDuration(wall - since)}`],
    ["waited", formatIfKnown(grantedAt, (at) => formatBriefDuration(at - enqueuedAt))],
    ["grace", state === "grace" ? formatGrace(until, wall) : undefined],
    ["runner", runner, tone],
    ["host", host && `${ticket.host} ${formatHost(host)}`, host?.verdict === "quiet" ? "problem" : "plain"],
    ["reset", formatReset(ticket, wall), "problem"],
  ]);
}

function formatHost({ verdict, text }: NonNullable<DetailContext["host"]>): string {
  if (verdict === "alive") return `is alive: ${text}`;
  return verdict === "quiet" ? `seems to be down: ${text}` : `may be alive or not: ${text}`;
}

function formatGrace(until: WallTime | undefined, wall: WallTime): string {
  const left = until === undefined ? "without an end" : `for another ${formatBriefDuration(until - wall)}`;
  const isOver = until !== undefined && until <= wall;
  return `its command has ended, its place is kept: ${isOver ? "over, others may take it" : left}`;
}

function formatReset({ reset }: Ticket, wall: WallTime): string | undefined {
  if (reset === undefined) return undefined;
  return `asked for by ${reset.by}, ${formatBriefDuration(wall - reset.at)} ago${formatReason(reset.why)}`;
}

function formatRunner(
  entry: QueueEntry,
  sessions: SessionLivenessMap,
): [text: string | undefined, tone: Tone] {
  if (entry.vanished !== undefined) return [describeVanished(entry.vanished), "problem"];
  if (entry.session === 0n) return ["no session: it stays until a reset with --force", "problem"];
  const alive = findRunnerLiveness(entry, sessions);
  if (alive === undefined || entry.ticket?.state === "grace") return [undefined, "plain"];
  const isRenewed = isSessionRenewed(alive);
  const left = isRenewed ? `, ${alive.left}s left` : "";
  return [`${alive.verdict}: ${alive.text}${left}`, isRenewed ? "plain" : "problem"];
}

/** Creates a column with the liveness of runners. Empty in grace: the command has ended, so no renewal is needed. */
export function createRunnerColumn<R>(
  priority: number,
  sessions: SessionLivenessMap,
  getEntry: (row: R) => QueueEntry | undefined,
): TableColumn<R> {
  const find = (row: R) => {
    const entry = getEntry(row);
    return entry === undefined || entry.ticket?.state === "grace"
      ? undefined
      : findRunnerLiveness(entry, sessions);
  };
  return createTextColumn("runner", priority, (row) => find(row)?.verdict, {
    getTone: (row) => (isSessionRenewed(find(row) ?? { verdict: "alive" }) ? "plain" : "problem"),
  });
}
