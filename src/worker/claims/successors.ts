import { readStoredSchedules, type StoredSchedule } from "../../operate/stored-schedules.ts";
import { guardRevision } from "../../protocol/guards.ts";
import { guardSchema } from "../../protocol/schema.ts";
import type { Compare, Op, Txn } from "../../protocol/txn.ts";
import { addPredecessorEnd, type HandOver, handEnd, type OccurrenceEnd } from "../../schedule/state/chain.ts";
import { type DueState, formatDue, type HandedEnd } from "../../schedule/state/due.ts";
import type { SchedulePorts } from "../worker-ports.ts";

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
  const step = handEnd(due, handed);
  const { compare, writes } = await prepareSuccessors(ports, step, signal);
  const [key, value] = [keys.due(id), formatDue(step.due)];
  const txn: Txn = {
    compare: [guardSchema(keys), guardRevision(key, dueMod), ...compare],
    success: [{ op: "put", key, value }, ...writes],
    failure: [],
  };
  return { txn, due: value };
}

/**
 * Reads the schedules that follow one whose occurrence has ended, and builds the writes that add their runs. They belong
 * into the transaction that ends the occurrence: then no run is lost or added twice. If a guard fails, read again.
 * @param step  from the state that the transaction guards
 * @throws StoreError
 */
export async function prepareSuccessors(
  ports: SchedulePorts,
  { followers, end }: Pick<HandOver, "followers" | "end">,
  signal?: AbortSignal,
): Promise<SuccessorWrites> {
  if (followers.length === 0) return NO_SUCCESSORS;
  const { schedules } = await readStoredSchedules(ports, followers, signal);
  const all = [...schedules.values()].map((stored) => buildSuccessorWrites(ports, stored, end));
  return { compare: all.flatMap((one) => one.compare), writes: all.flatMap((one) => one.writes) };
}

function buildSuccessorWrites(
  { keys, log }: SchedulePorts,
  { id, definition, definitionMod, due, dueMod }: StoredSchedule,
  end: OccurrenceEnd,
): SuccessorWrites {
  // A schedule that cannot be read does not run; listings and the worker's log say why.
  if (definition === undefined || due === undefined) return NO_SUCCESSORS;
  const step = addPredecessorEnd(id, definition, due, end);
  if (step.kind === "full")
    log.warn("a run in a chain was not added: too many wait", { schedule: id, after: end.id });
  const compare = [guardRevision(keys.schedule(id), definitionMod), guardRevision(keys.due(id), dueMod)];
  const writes: Op[] =
    step.kind === "changed" ? [{ op: "put", key: keys.due(id), value: formatDue(step.due) }] : [];
  return { compare, writes };
}
