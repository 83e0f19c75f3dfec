import { guardRevision } from "../../core/protocol/guards.ts";
import { guardSchema } from "../../core/protocol/schema.ts";
import type { Compare, Op, Txn } from "../../core/protocol/txn.ts";
import { addPredecessorEnd, handEnd, type OccurrenceEnd } from "../../schedule/state/chain.ts";
import { type DueState, formatDue, type HandedEnd } from "../../schedule/state/due.ts";
import { readStoredSchedules, type StoredSchedule } from "../../site/operate/stored-schedules.ts";
import type { SchedulePorts } from "../worker-ports.ts";

/** What the states of the schedules that get an end together may have at most, bytes. etcd accepts requests of 1.5 MiB. */
const BYTES_TOGETHER = 512 * 1024;
/** Largest state that a schedule gets, bytes. */
const LARGEST_STATE = 1024 * 1024;

/** What a transaction that ends an occurrence does for the schedules that follow. */
export interface SuccessorWrites {
  /** Guards on everything that the writes depend on. */
  readonly compare: readonly Compare[];
  readonly writes: readonly Op[];
}

export const NO_SUCCESSORS: SuccessorWrites = { compare: [], writes: [] };

/**
 * Builds the transaction that gives an end to further schedules that follow, and notes it in the state, which it compares.
 * @throws StoreError
 */
export async function prepareHandOver(
  ports: SchedulePorts,
  { id, due, dueMod }: { id: string; due: DueState; dueMod: bigint },
  handed: HandedEnd,
  signal?: AbortSignal,
): Promise<{ txn: Txn; due: string }> {
  const { keys } = ports;
  const { compare, writes, due: next } = await prepareSuccessors(ports, due, handed, signal);
  const [key, value] = [keys.due(id), formatDue(next)];
  const txn: Txn = {
    compare: [guardSchema(keys), guardRevision(key, dueMod), ...compare],
    success: [{ op: "put", key, value }, ...writes],
    failure: [],
  };
  return { txn, due: value };
}

/**
 * Reads the next schedules that get an end, as many as fit into one request, and builds the writes that add their runs. They belong
 * into the transaction that writes the state: then no run is lost or added twice. If a guard fails, read again.
 * @param due  the state of the schedule that has ended
 * @returns the writes, and the state that notes who has the end
 * @throws StoreError
 */
export async function prepareSuccessors(
  ports: SchedulePorts,
  due: DueState,
  from: HandedEnd,
  signal?: AbortSignal,
): Promise<SuccessorWrites & { due: DueState }> {
  const step = handEnd(due, from);
  if (step.followers.length === 0) return { ...NO_SUCCESSORS, due: step.due };
  const { schedules } = await readStoredSchedules(ports, step.followers, signal);
  const all = [...schedules.values()].map((stored) => buildSuccessorWrites(ports, stored, step.end));
  const some = all.slice(0, countFitting(all));
  return {
    compare: some.flatMap((one) => one.compare),
    writes: some.flatMap((one) => one.writes),
    due: handEnd(due, from, some.length).due,
  };
}

/** Counts the first ones whose writes fit into one request: at least one. */
function countFitting(all: readonly SuccessorWrites[]): number {
  let bytes = 0;
  const end = all.findIndex(({ writes }) => {
    bytes += writes.reduce((sum, op) => sum + (op.op === "put" ? Buffer.byteLength(op.value) : 0), 0);
    return bytes > BYTES_TOGETHER;
  });
  return end < 0 ? all.length : Math.max(1, end);
}

function buildSuccessorWrites(
  { keys, log }: SchedulePorts,
  { id, definition, definitionMod, due, dueMod }: StoredSchedule,
  end: OccurrenceEnd,
): SuccessorWrites {
  // A schedule that cannot be read does not run; listings and the worker's log say why.
  if (definition === undefined || due === undefined) return NO_SUCCESSORS;
  const step = addPredecessorEnd(id, definition, due, end);
  const value = step.kind === "changed" ? formatDue(step.due) : "";
  const isFull = step.kind === "full" || Buffer.byteLength(value) > LARGEST_STATE;
  if (isFull) log.warn("a run in a chain was not added: too many wait", { schedule: id, after: end.id });
  const compare = [guardRevision(keys.schedule(id), definitionMod), guardRevision(keys.due(id), dueMod)];
  const writes: Op[] = value === "" || isFull ? [] : [{ op: "put", key: keys.due(id), value }];
  return { compare, writes };
}
