import { isHolding } from "../protocol/admission.ts";
import type { QueueEntry } from "../protocol/ticket.ts";
import type { Snapshot } from "./snapshot.ts";

/** The queue entries of a run. Most runs have one, and there may be a hundred thousand: no list is built for these. */
type RunEntries = QueueEntry | readonly QueueEntry[];

// The entries of the runs of the last snapshot. Of the next one, only the queues that have changed are read.
let known: Snapshot["queues"] = new Map();
const runs = new Map<string, QueueEntry | QueueEntry[]>();

/** Lists the queue entries of each run. Valid until the next call. Cheap for a snapshot that follows the one before. */
export function listEntriesByRun({ queues }: Pick<Snapshot, "queues">): Iterable<RunEntries> {
  const changed = [...queues].filter(([id, queue]) => known.get(id) !== queue);
  for (const [id, queue] of known) if (queues.get(id) !== queue) queue.entries.forEach(removeEntry);
  for (const [, { entries }] of changed) entries.forEach(addEntry);
  known = queues;
  return runs.values();
}

function addEntry(entry: QueueEntry): void {
  const others = runs.get(entry.run);
  if (others === undefined) runs.set(entry.run, entry);
  else if (Array.isArray(others)) others.push(entry);
  else runs.set(entry.run, [others, entry]);
}

function removeEntry(entry: QueueEntry): void {
  const all = runs.get(entry.run);
  if (!Array.isArray(all)) {
    if (all === entry) runs.delete(entry.run);
    return;
  }
  const [first, ...others] = all.filter((one) => one !== entry);
  if (first === undefined) runs.delete(entry.run);
  else runs.set(entry.run, others.length === 0 ? first : [first, ...others]);
}

/** Counts the runs that hold everything they claim, and the runs that wait. Malformed tickets count as nothing. */
export function countRuns(snapshot: Snapshot): { held: number; waiting: number } {
  let [held, waiting] = [0, 0];
  for (const entries of listEntriesByRun(snapshot)) {
    const all = "key" in entries ? [entries] : entries;
    if (!all.some(({ ticket }) => ticket !== undefined)) continue;
    if (all.every(isHolding)) held += 1;
    else waiting += 1;
  }
  return { held, waiting };
}
