import { formatBriefDuration, formatInstant } from "../base/duration.ts";
import { isHolding } from "../protocol/admission.ts";
import type { Drain } from "../protocol/drain.ts";
import { describeVanished, type Queue, type QueueEntry, type Ticket } from "../protocol/ticket.ts";
import { getScheduleType } from "../schedule/definition.ts";
import {
  buildClaims,
  type Claim,
  type ClaimEntry,
  findClaimTicket,
  formatTicketOwner,
  getEntryState,
  isHolder,
} from "../state/claims.ts";
import { formatDrainLine } from "../state/eviction-preview.ts";
import { explain, findRunnerLiveness, formatExplanation, type SessionLivenessMap } from "../state/explain.ts";
import { isSessionRenewed } from "../state/liveness.ts";
import type { Execution, Snapshot } from "../state/snapshot.ts";
import type { Tone } from "../state/subject.ts";
import { CONTEXT_COLLECTIONS, listStoppingDrains, type ViewContext } from "../state/view-context.ts";
import {
  createAgeColumn,
  createNoteColumn,
  createNumberColumn,
  createOwnerColumn,
  createStateColumn,
  formatTicketCommand,
  getStateTone,
  toDrainJson,
} from "./columns.ts";
import {
  buildAuditTable,
  buildDetailTable,
  buildFacts,
  buildOwnerCell,
  type Cell,
  type Detail,
  type DetailContext,
  type DetailTarget,
  type Fact,
  type ItemColumn,
  type Section,
} from "./detail.ts";
import { formatExecutionOwner } from "./schedules.ts";
import type { SnapshotView } from "./view.ts";

/** A run: its tickets, or an occurrence of a schedule on a worker, or both for a task with leases. */
interface RunRow {
  run: string;
  claim: Claim | undefined;
  task: Execution | undefined;
  /** State of the ticket that is furthest from being held; `held` for a task without tickets. */
  state: string;
  command: string;
  /** Drains that stop it while it waits. */
  drains: readonly Drain[];
}

/** All runs that hold or wait, one per row. Includes occurrences of schedules on workers. */
export const runsView: SnapshotView<RunRow> = {
  of: "snapshot",
  id: "runs",
  brief: "runs: everything that each of them holds or waits for",
  collections: [...CONTEXT_COLLECTIONS, "locks", "resources", "schedules", "runnings"],
  columns: [
    { id: "run", title: "RUN", isRandom: true, priority: 3, formatCell: ({ run }) => run },
    createOwnerColumn("who", "WHO", 1, formatRunOwner),
    createStateColumn(1, getStateTone, ({ state }) => state),
    {
      id: "lock",
      title: "LOCK",
      priority: 2,
      formatCell: ({ claim }) => (claim && findLockName(claim)) ?? "",
    },
    { id: "schedule", title: "SCHEDULE", priority: 2, formatCell: ({ task }) => task?.id ?? "" },
    {
      id: "leases",
      title: "LEASES",
      priority: 2,
      formatCell: ({ claim }) => (claim ? formatLeases(claim) : ""),
    },
    createAgeColumn("since", "SINCE", 2, findSince),
    createNoteColumn(4, ({ drains }) => drains.map(formatDrainLine).join("; ")),
    { id: "command", title: "COMMAND", priority: 4, formatCell: (row) => row.command },
    { id: "label", title: "LABEL", priority: 5, formatCell: (row) => findTicket(row)?.label ?? "" },
    { id: "user", title: "USER", priority: 6, formatCell: (row) => findTicket(row)?.user ?? "" },
    createNumberColumn("token", "TOKEN", 7, getFencingToken),
  ],
  sort: "token",
  getKey: ({ run }) => run,
  getFacets: (row) => ({
    states: [row.state, ...(row.drains.length > 0 ? ["drained"] : [])],
    hosts: [findTicket(row)?.host ?? row.task?.value?.host ?? ""],
    holders: row.claim === undefined || isHolder(row.claim) ? [formatRunOwner(row)] : [],
  }),
  getSubject: ({ run, claim, task }) =>
    claim === undefined && task !== undefined
      ? { kind: "schedule", name: task.id }
      : { kind: "run", name: run },
  toJson: toRunRowJson,
  buildRows: buildRunRows,
  empty: "Nothing runs and nothing waits. Try: signalbox run --lock demo -- sleep 60",
};

function buildRunRows(snapshot: Snapshot, viewContext: ViewContext): RunRow[] {
  const tasks = new Map(
    [...snapshot.executions.values()].flat().map((task) => [task.value?.run ?? task.key, task]),
  );
  const rows = [...buildClaims(snapshot).values()].map((claim): RunRow => {
    const host = findClaimTicket(claim)?.host;
    const drains = isHolder(claim)
      ? []
      : listStoppingDrains({ host, queues: claim.entries.map(({ queue }) => queue) }, viewContext);
    const task = tasks.get(claim.run);
    tasks.delete(claim.run);
    const command = formatTicketCommand(findClaimTicket(claim));
    return { run: claim.run, claim, task, command, state: computeClaimState(claim), drains };
  });
  return [...rows, ...[...tasks].map(([run, task]) => buildTaskRow(snapshot, run, task))];
}

function buildTaskRow({ schedules }: Snapshot, run: string, task: Execution): RunRow {
  const definition = schedules.get(task.id)?.value;
  const words = definition?.command?.join(" ") ?? getScheduleType(task.id, definition ?? {});
  const state = task.fault === undefined ? "held" : "malformed";
  return { run, claim: undefined, task, command: words, state, drains: [] };
}

/** Returns the state of a claim: the state of the ticket that is furthest from being held. */
export function computeClaimState(claim: Claim): string {
  const states = claim.entries.map(({ entry }) => getEntryState(entry));
  const order = ["malformed", "waiting", "admitted", "held", "grace"];
  return order.find((state) => states.some((one) => one === state)) ?? "held";
}

function toRunRowJson({ run, claim, task, state, drains }: RunRow): object {
  const value = task?.value;
  const own = {
    run,
    state,
    host: value?.host,
    pid: value?.pid,
    grantedAt: value?.since,
    token: task?.token,
    tickets: [],
  };
  return {
    ...(claim === undefined ? own : toRunJson(claim, state)),
    schedule: task?.id,
    scheduled: value?.scheduled,
    drains: drains.map(toDrainJson),
  };
}

/** Returns a run for JSON output. Tokens and revisions as text, wall clocks in ms since the epoch. */
export function toRunJson(claim: Claim, state: string): object {
  const ticket = findClaimTicket(claim);
  const { host, pid, user, command, args, label, enqueuedAt, grantedAt, reset } = ticket ?? {};
  return {
    run: claim.run,
    state,
    host,
    pid,
    user,
    command,
    args,
    label,
    enqueuedAt,
    grantedAt,
    reset,
    token: getClaimToken(claim),
    tickets: claim.entries.map(({ queue: { kind, name }, entry }) => ({
      kind,
      name,
      state: getEntryState(entry),
      count: entry.ticket?.count,
    })),
  };
}

/** Returns the fencing token: of the lock ticket, or else of the first resource ticket. */
function getClaimToken({ entries }: Claim): bigint {
  const claimEntry = entries.find(({ queue }) => queue.kind === "lock") ?? entries[0];
  return claimEntry?.entry.createRevision ?? 0n;
}

function findLockName({ entries }: Claim): string | undefined {
  return entries.find(({ queue }) => queue.kind === "lock")?.queue.name;
}

function formatLeases({ entries }: Claim): string {
  const leases = entries.filter(({ queue }) => queue.kind === "resource");
  return leases.map(({ queue, entry }) => `${queue.name}=${entry.ticket?.count ?? "?"}`).join(" ");
}

function getFencingToken({ claim, task }: RunRow): bigint {
  return claim === undefined ? (task?.token ?? 0n) : getClaimToken(claim);
}

function findTicket({ claim }: RunRow) {
  return claim && findClaimTicket(claim);
}

function formatRunOwner({ claim, task }: RunRow): string {
  const [first] = claim?.entries ?? [];
  return first === undefined
    ? task === undefined
      ? ""
      : formatExecutionOwner(task)
    : formatTicketOwner(first.entry);
}

function findSince(row: RunRow): number | undefined {
  const ticket = findTicket(row);
  return ticket?.grantedAt ?? ticket?.enqueuedAt ?? row.task?.value?.since;
}

/** Builds the detail of a run: what it holds or waits for, and why it waits. */
export function buildRunDetail(snapshot: Snapshot, claim: Claim, detailContext: DetailContext): Detail {
  const claimEntry = claim.entries.find(({ entry }) => entry.ticket !== undefined) ?? claim.entries[0];
  const own = claimEntry === undefined ? [] : buildTicketFacts(claimEntry.entry, detailContext);
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

const TICKET_COLUMNS: readonly ItemColumn<ClaimEntry>[] = [
  { title: "KIND", priority: 1, getCell: ({ queue }) => queue.kind },
  { title: "NAME", priority: 1, getCell: ({ queue }) => queue.name },
  { title: "UNITS", priority: 2, align: "right", getCell: formatUnits },
  {
    title: "STATE",
    priority: 1,
    isMarked: true,
    getCell: ({ entry }) => buildStateCell(getEntryState(entry)),
  },
  { title: "PLACE", priority: 2, getCell: ({ queue: { entries }, entry }) => formatPlace(entries, entry) },
  { title: "KEY", priority: 5, getCell: ({ entry }) => entry.key },
];

function formatUnits({ queue: { kind }, entry: { ticket } }: ClaimEntry): string {
  return kind === "lock" ? "" : String(ticket?.count ?? "?");
}

function formatPlace(entries: Queue, entry: QueueEntry): string {
  return `${entries.indexOf(entry) + 1} of ${entries.length}`;
}

/** Options of a table of runs. */
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
  const sorted = [...claims].sort(
    (a, b) => getRank(a) - getRank(b) || (getClaimToken(a) < getClaimToken(b) ? -1 : 1),
  );
  const columns: ItemColumn<Claim>[] = [
    { title: "RUN", priority: 3, getCell: ({ run }) => run },
    ...(isOneHost ? [] : [HOST_COLUMN]),
    {
      title: "PID",
      priority: 2,
      align: "right",
      getCell: (claim) => String(findClaimTicket(claim)?.pid ?? ""),
    },
    {
      title: "STATE",
      priority: 1,
      isMarked: true,
      getCell: (claim) => buildStateCell(computeClaimState(claim)),
    },
    { title: "RUNNER", priority: 3, getCell: (claim) => buildClaimRunnerCell(claim, sessions) },
    {
      title: "HOLDS OR WAITS FOR",
      priority: 1,
      getCell: ({ entries }) => entries.map(formatClaimEntry).join(" "),
    },
  ];
  return buildDetailTable("runs", columns, sorted, { all, getTarget: buildRunTarget });
}

const HOST_COLUMN: ItemColumn<Claim> = {
  title: "HOST",
  priority: 1,
  getCell: (claim) => buildOwnerCell(findClaimTicket(claim)?.host ?? ""),
};

function buildRunTarget({ run, entries: [first] }: Claim): DetailTarget {
  return { title: `run ${run}`, subject: { kind: "run", name: run, ...(first && { queue: first.queue }) } };
}

function buildClaimRunnerCell({ entries }: Claim, sessions: SessionLivenessMap): Cell | undefined {
  const readable = entries.find(({ entry }) => entry.ticket !== undefined);
  return readable && buildRunnerCell(readable.entry, sessions);
}

function formatClaimEntry({ queue: { kind, name }, entry: { ticket } }: Claim["entries"][number]): string {
  return kind === "lock" ? name : `${name}=${ticket?.count ?? "?"}`;
}

/** Builds the facts about the run of a ticket. */
export function buildTicketFacts(entry: QueueEntry, { wall, sessions, host }: DetailContext): Fact[] {
  const { ticket, run, createRevision } = entry;
  if (ticket === undefined) return buildFacts([["ticket", `${entry.key} cannot be read`, "problem"]]);
  const [runner, tone] = formatRunner(entry, sessions);
  return buildFacts([
    [
      isHolding(entry) ? "holder" : "waiter",
      `${formatTicketOwner(entry)} (${formatTicketCommand(ticket)}), user ${ticket.user}`,
    ],
    ["label", ticket.label],
    ["run", run],
    ["token", String(createRevision)],
    ...listTimeFacts(ticket, wall),
    ["runner", runner, tone],
    ["host", host && `${ticket.host} ${formatHost(host)}`, host?.verdict === "quiet" ? "problem" : "plain"],
    ["reset", formatReset(ticket, wall), "problem"],
  ]);
}

function formatHost({ verdict, text }: NonNullable<DetailContext["host"]>): string {
  if (verdict === "alive") return `is alive: ${text}`;
  return verdict === "quiet" ? `seems to be down: ${text}` : `may be alive or not: ${text}`;
}

type FactEntry = readonly [label: string, value: string | undefined, tone?: Tone];

function listTimeFacts(ticket: Ticket, wall: number): FactEntry[] {
  const { grantedAt, enqueuedAt, state, until } = ticket;
  const since = grantedAt ?? enqueuedAt;
  return [
    ["since", `${formatInstant(since)}, for ${formatBriefDuration(wall - since)}`],
    ["waited", grantedAt === undefined ? undefined : formatBriefDuration(grantedAt - enqueuedAt)],
    ["grace", state === "grace" ? formatGrace(until, wall) : undefined],
  ];
}

function formatGrace(until: number | undefined, wall: number): string {
  const end =
    until === undefined
      ? "without an end"
      : until <= wall
        ? "over, others may take it"
        : `for another ${formatBriefDuration(until - wall)}`;
  return `its command has ended, its place is kept: ${end}`;
}

function formatReset({ reset }: Ticket, wall: number): string | undefined {
  if (reset === undefined) return undefined;
  const why = reset.why === undefined ? "" : `: ${reset.why}`;
  return `asked for by ${reset.by}, ${formatBriefDuration(wall - reset.at)} ago${why}`;
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

export function buildStateCell(state: string): Cell {
  return { text: state, tone: getStateTone(state) };
}

/** Builds a cell with the liveness of a runner. Empty in grace: the command has ended, so no renewal is needed. */
export function buildRunnerCell(entry: QueueEntry, sessions: SessionLivenessMap): Cell {
  const alive = entry.ticket?.state === "grace" ? undefined : findRunnerLiveness(entry, sessions);
  const isFine = alive === undefined || isSessionRenewed(alive);
  return { text: alive?.verdict ?? "", tone: isFine ? "plain" : "problem" };
}
