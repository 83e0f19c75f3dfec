import type { Drain } from "../../protocol/drain.ts";
import { getScheduleType } from "../../schedule/definition.ts";
import { formatDrainLine } from "../preview/eviction-preview-text.ts";
import {
  buildClaims,
  type Claim,
  findClaimTicket,
  formatTicketOwner,
  getEntryState,
  isHolder,
} from "../snapshot/claims.ts";
import type { Execution, Snapshot } from "../snapshot/snapshot.ts";
import { listStoppingDrains } from "../views/stopping-drains.ts";
import { CONTEXT_COLLECTIONS, type SnapshotView, type ViewContext } from "../views/view.ts";
import { formatTicketCommand, getStateTone, toDrainJson } from "./cells.ts";
import {
  createAgeColumn,
  createNoteColumn,
  createNumberColumn,
  createOwnerColumn,
  createStateColumn,
} from "./columns.ts";
import { formatExecutionOwner } from "./schedules.ts";

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
  of: "picture",
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
export function getClaimToken({ entries }: Claim): bigint {
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
