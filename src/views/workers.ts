import { COMMAND_TYPE } from "../schedule/handler-types.ts";
import type { WorkerRecord } from "../schedule/state/worker-record.ts";
import type { Snapshot, StoredWorker } from "../state/snapshot.ts";
import { createAgeColumn, createNoteColumn, createOwnerColumn } from "./columns.ts";
import type { SnapshotView } from "./view.ts";

interface WorkerRow {
  id: string;
  /** Undefined if the record cannot be read. */
  record: WorkerRecord | undefined;
  fault: string | undefined;
  /** Number of its tasks, counted from running keys: its own record may be some seconds old. */
  running: number;
}

export const workersView: SnapshotView<WorkerRow> = {
  of: "snapshot",
  id: "workers",
  brief: "workers: what they have handlers for, how much they run",
  collections: ["workers", "runnings"],
  columns: [
    createOwnerColumn("who", "WORKER", 1, formatWorkerOwner),
    {
      id: "state",
      title: "STATE",
      isMarked: true,
      priority: 1,
      formatCell: (row) => listStates(row)[0] ?? "",
      getTone: (row) => (listStates(row).some((state) => BAD.has(state)) ? "problem" : "held"),
    },
    {
      id: "running",
      title: "RUNS",
      priority: 1,
      align: "right",
      formatCell: ({ record, running }) => `${running}/${record?.concurrency ?? "?"}`,
      getSortValue: ({ running }) => running,
      getMeasure: ({ running }) => running,
    },
    {
      id: "clock",
      title: "CLOCK",
      priority: 2,
      formatCell: ({ record }) => record?.clock ?? "",
      getTone: ({ record }) => (record?.clock === "ok" ? "quiet" : "problem"),
    },
    createAgeColumn("since", "SINCE", 2, ({ record }) => record?.since),
    { id: "types", title: "TYPES", priority: 2, formatCell: ({ record }) => formatTypes(record) },
    { id: "tags", title: "TAGS", priority: 5, formatCell: ({ record }) => (record?.tags ?? []).join(" ") },
    createNoteColumn(3, ({ fault }) => fault ?? ""),
    { id: "version", title: "VERSION", priority: 5, formatCell: ({ record }) => record?.version ?? "" },
    { id: "worker", title: "ID", isRandom: true, priority: 6, formatCell: ({ id }) => id },
    createAgeColumn("word", "WORD", 9, ({ record }) => record?.wall),
  ],
  sort: "who",
  getKey: ({ id }) => id,
  getFacets: (row) => ({
    states: listStates(row),
    hosts: row.record === undefined ? [] : [row.record.host],
    holders: row.running > 0 ? [formatWorkerOwner(row)] : [],
  }),
  getSubject: ({ id, record }) => ({
    kind: "record",
    name: id,
    ...(record !== undefined && { about: { kind: "host", name: record.host } }),
  }),
  toJson: toWorkerJson,
  getChangeKey: ({ id, running, record: { host, clock, types, isJoining, isLeaving } = NOBODY, fault }) =>
    JSON.stringify([id, host, running, clock, types, isJoining, isLeaving, fault]), // its time changes every few seconds
  buildRows: buildWorkerRows,
  empty: "No workers yet. Start one: signalbox worker",
};

const NOBODY: Partial<WorkerRecord> = {};
const BAD: ReadonlySet<string> = new Set(["malformed", "refuses", "warns"]);

/** Rows of unchanged worker records. */
const cachedRows = new WeakMap<StoredWorker, WorkerRow>();

function buildWorkerRows({ workers: seats, executions }: Snapshot): WorkerRow[] {
  const tasks = new Map<string, number>();
  for (const { value } of [...executions.values()].flat())
    if (value !== undefined) tasks.set(value.worker, (tasks.get(value.worker) ?? 0) + 1);
  return [...seats].map(([id, seat]) => buildRow(id, seat, tasks.get(id) ?? 0));
}

function buildRow(id: string, worker: StoredWorker, running: number): WorkerRow {
  const known = cachedRows.get(worker);
  if (known?.running === running) return known;
  const row = { id, record: worker.value, fault: worker.fault, running };
  cachedRows.set(worker, row);
  return row;
}

/** Lists the states. `full`: it starts no more tasks for now. `warns`, `refuses`: its clock deviates. */
function listStates({ record, running }: WorkerRow): string[] {
  if (record === undefined) return ["malformed"];
  const { concurrency, clock, isJoining, isLeaving } = record;
  return [
    ...(isJoining ? ["joining"] : []),
    ...(isLeaving ? ["leaving"] : []),
    ...(clock === "ok" ? [] : [clock]),
    ...(running >= concurrency ? ["full"] : []),
    running > 0 ? "busy" : "idle",
  ];
}

/** Returns a worker for JSON output. Instants in ms since the epoch. Fields of later versions are omitted. */
function toWorkerJson({ id, record, fault, running }: WorkerRow): object {
  const { host, pid, version, since, wall, beat, types, tags, concurrency, clock } = record ?? NOBODY;
  return {
    worker: id,
    host,
    pid,
    version,
    since,
    wall,
    beat,
    types,
    tags,
    running,
    concurrency,
    clock,
    isLeaving: record?.isLeaving === true,
    fault,
  };
}

function formatWorkerOwner({ id, record }: WorkerRow): string {
  return record === undefined ? `malformed ${id}` : `${record.host}:${record.pid}`;
}

function formatTypes(record: WorkerRecord | undefined): string {
  return (record?.types ?? []).map((type) => (type === COMMAND_TYPE ? "(commands)" : type)).join(" ");
}
