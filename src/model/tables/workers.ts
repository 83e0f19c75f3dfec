import { briefDuration } from "../../base/duration.ts";
import { COMMANDS } from "../../schedule/types.ts";
import type { WorkerRecord } from "../../schedule/worker-record.ts";
import type { Picture, Seat } from "../picture.ts";
import { ago, briefWho, lasting } from "./cells.ts";
import type { PictureView } from "./view.ts";

interface WorkerRow {
  id: string;
  /** Undefined where its word cannot be read. */
  record: WorkerRecord | undefined;
  fault: string | undefined;
  /** Tasks that it runs, as the keys of these tell: its own word is up to some seconds old. */
  running: number;
}

export const workers: PictureView<WorkerRow> = {
  ...{ of: "picture", id: "workers", brief: "workers: what they have handlers for, how much they run" },
  rooms: ["workers", "runnings"],
  columns: [
    { id: "who", title: "WORKER", priority: 1, text: whoOf, brief: (row) => briefWho(whoOf(row)) },
    {
      ...{ id: "state", title: "STATE", isMarked: true, priority: 1, text: (row) => statesOf(row)[0] ?? "" },
      tone: (row) => (statesOf(row).some((state) => BAD.has(state)) ? "problem" : "held"),
    },
    {
      ...{ id: "running", title: "RUNS", priority: 1, align: "right" },
      text: ({ record, running }) => `${running}/${record?.concurrency ?? "?"}`,
      order: ({ running }) => running,
    },
    {
      ...{ id: "clock", title: "CLOCK", priority: 2, text: ({ record }) => record?.clock ?? "" },
      tone: ({ record }) => (record?.clock === "ok" ? "quiet" : "problem"),
    },
    {
      ...{ id: "since", title: "SINCE", priority: 2, align: "right", isTimed: true },
      text: ({ record }, wall) => ago(record?.since, wall),
      order: ({ record }) => lasting(record?.since),
    },
    { id: "types", title: "TYPES", priority: 2, text: ({ record }) => typesText(record) },
    { id: "tags", title: "TAGS", priority: 5, text: ({ record }) => (record?.tags ?? []).join(" ") },
    { id: "note", title: "NOTE", priority: 3, text: ({ fault }) => fault ?? "", tone: () => "problem" },
    { id: "version", title: "VERSION", priority: 5, text: ({ record }) => record?.version ?? "" },
    { id: "worker", title: "ID", isRandom: true, priority: 6, text: ({ id }) => id },
    {
      ...{ id: "word", title: "WORD", priority: 9, align: "right", isTimed: true },
      text: ({ record }, wall) => (record === undefined ? "" : briefDuration(wall - record.wall)),
      order: ({ record }) => lasting(record?.wall),
    },
  ],
  sort: "who",
  key: ({ id }) => id,
  facets: (row) => ({
    states: statesOf(row),
    hosts: row.record === undefined ? [] : [row.record.host],
    holders: row.running > 0 ? [whoOf(row)] : [],
  }),
  subject: ({ id, record }) => ({
    ...{ kind: "record", name: id },
    ...(record !== undefined && { about: { kind: "host", name: record.host } }),
  }),
  json: workerJson,
  news: ({ id, running, record: { host, clock, types, isLeaving } = NOBODY, fault }) =>
    JSON.stringify([id, host, running, clock, types, isLeaving, fault]), // it says its time every few seconds
  rows: workerRows,
  empty: "No worker is there. Start one: signalbox worker",
};

const NOBODY: Partial<WorkerRecord> = {};
const BAD: ReadonlySet<string> = new Set(["malformed", "refuses", "warns"]);

/** Rows of workers that have said nothing new. */
const made = new WeakMap<Seat, WorkerRow>();

function workerRows({ workers: seats, executions }: Picture): WorkerRow[] {
  const tasks = new Map<string, number>();
  for (const { value } of [...executions.values()].flat())
    if (value !== undefined) tasks.set(value.worker, (tasks.get(value.worker) ?? 0) + 1);
  return [...seats].map(([id, seat]) => rowOf(id, seat, tasks.get(id) ?? 0));
}

function rowOf(id: string, seat: Seat, running: number): WorkerRow {
  const known = made.get(seat);
  if (known?.running === running) return known;
  const row = { id, record: seat.value, fault: seat.fault, running };
  made.set(seat, row);
  return row;
}

/** `full`: it takes nothing more for now. `warns`, `refuses`: its clock is off. */
function statesOf({ record, running }: WorkerRow): string[] {
  if (record === undefined) return ["malformed"];
  const { concurrency, clock, isLeaving } = record;
  return [
    ...(isLeaving ? ["leaving"] : []),
    ...(clock === "ok" ? [] : [clock]),
    ...(running >= concurrency ? ["full"] : []),
    running > 0 ? "busy" : "idle",
  ];
}

/** A worker for programs. Instants in ms since the epoch. What a later version says beside this stays out. */
function workerJson({ id, record, fault, running }: WorkerRow): object {
  const { host, pid, version, since, wall, beat, types, tags, concurrency, clock } = record ?? NOBODY;
  return {
    ...{ worker: id, host, pid, version, since, wall, beat, types, tags, running, concurrency, clock },
    ...{ isLeaving: record?.isLeaving === true, fault },
  };
}

function whoOf({ id, record }: WorkerRow): string {
  return record === undefined ? `malformed ${id}` : `${record.host}:${record.pid}`;
}

function typesText(record: WorkerRecord | undefined): string {
  return (record?.types ?? []).map((type) => (type === COMMANDS ? "(commands)" : type)).join(" ");
}
