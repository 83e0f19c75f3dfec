import { COMMAND_TYPE } from "../../schedule/handler-types.ts";
import { CLOCK_STATES, type WorkerRecord } from "../../schedule/state/running-record.ts";
import type { Snapshot, StoredWorker } from "../../site/state/snapshot.ts";
import {
  createAgeColumn,
  createNoteColumn,
  createOwnerColumn,
  createRightColumn,
  createTextColumn,
} from "./columns.ts";
import {
  describeChoice,
  describeCount,
  describeFieldsOf,
  describeFlag,
  describeInstant,
  describeInteger,
  describeObject,
  describeText,
  describeTexts,
} from "./json.ts";
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
    createOwnerColumn("who", 1, formatWorkerOwner, { title: "WORKER" }),
    createTextColumn("state", 1, (row) => listStates(row)[0], {
      isMarked: true,
      getTone: (row) => (listStates(row).some((state) => BAD_CLOCK_STATES.has(state)) ? "problem" : "held"),
    }),
    createRightColumn("running", 1, ({ record, running }) => `${running}/${record?.concurrency ?? "?"}`, {
      title: "RUNS",
      getSortValue: ({ running }) => running,
      getMeasure: ({ running }) => running,
    }),
    createTextColumn("clock", 2, ({ record }) => record?.clock, {
      getTone: ({ record }) => (record?.clock === "ok" ? "quiet" : "problem"),
    }),
    createAgeColumn("since", 2, ({ record }) => record?.since),
    createTextColumn("types", 2, ({ record }) => formatTypes(record)),
    createTextColumn("tags", 5, ({ record }) => (record?.tags ?? []).join(" ")),
    createNoteColumn(3, ({ fault }) => fault ?? ""),
    createTextColumn("version", 5, ({ record }) => record?.version),
    createTextColumn("worker", 6, ({ id }) => id, { title: "ID", isRandom: true }),
    createAgeColumn("word", 9, ({ record }) => record?.wall),
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
  json: describeObject("worker", "A worker.", {
    worker: describeText("id of the worker", "id"),
    ...describeFieldsOf(({ record }: WorkerRow) => record, {
      "host?": describeText("full name of the worker's host", "host"),
      "pid?": describeInteger("process id of the worker", "pid"),
      "version?": describeText("version of signalbox", "version"),
      "since?": describeInstant("start of the worker", "since"),
      "wall?": describeInstant("the worker's clock when it last wrote its record", "wall"),
      "beat?": describeCount("number of the record, from 1", "beat"),
      "types?": describeTexts(
        "types with a handler: names and `/regular expressions/`; `$command` stands for commands",
        "types",
      ),
      "tags?": describeTexts("tags of the worker", "tags"),
    }),
    running: describeCount("number of running tasks", "running"),
    ...describeFieldsOf(({ record }: WorkerRow) => record, {
      "concurrency?": describeCount("maximum number of running tasks", "concurrency"),
      "clock?": describeChoice(
        CLOCK_STATES,
        "state of the worker's clock. `warns`: more than 0.5 s off; `refuses`: more than 5 s off, so the worker starts nothing",
        "clock",
      ),
    }),
    isLeaving: describeFlag(
      "whether the worker is leaving and starts nothing more",
      ({ record }) => record?.isLeaving === true,
    ),
    "fault?": describeText("why its record cannot be read", "fault"),
  }),
  getChangeKey: ({ id, running, record: { host, clock, types, isJoining, isLeaving } = NO_HOSTS, fault }) =>
    JSON.stringify([id, host, running, clock, types, isJoining, isLeaving, fault]), // its time changes every few seconds
  buildRows: buildWorkerRows,
  empty: "No workers yet. Start one: signalbox worker",
};

const NO_HOSTS: Partial<WorkerRecord> = {};
const BAD_CLOCK_STATES: ReadonlySet<string> = new Set(["malformed", "refuses", "warns"]);

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

function formatWorkerOwner({ id, record }: WorkerRow): string {
  return record === undefined ? `malformed ${id}` : `${record.host}:${record.pid}`;
}

function formatTypes(record: WorkerRecord | undefined): string {
  return (record?.types ?? []).map(formatType).join(" ");
}

/** Formats a type: `(commands)`, `(commands as ann)`, `(secret db)`, `(secret db for shop.*)`, or the handler's. */
function formatType(type: string): string {
  if (type === COMMAND_TYPE) return "(commands)";
  const [, kind = "", name] = /^\$(command|secret):(.*)$/.exec(type) ?? [];
  if (name === undefined) return type;
  return kind === "secret" ? `(secret ${name.replace("@", " for ")})` : `(commands as ${name})`;
}
