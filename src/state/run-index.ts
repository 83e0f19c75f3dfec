import { isHolding } from "../protocol/admission.ts";
import type { QueueEntry } from "../protocol/ticket.ts";
import type { NamedQueue, Snapshot } from "./snapshot.ts";

/** The queue entries of a run. Most runs have one, and there may be a hundred thousand: no list is built for these. */
type RunEntries = QueueEntry | readonly QueueEntry[];

/** The entries of the runs of the last snapshot. Of the next one, only the queues that have changed are read. */
class RunIndex {
  #queues = new Map<string, NamedQueue>();
  readonly #runs = new Map<string, QueueEntry | QueueEntry[]>();

  update(queues: Snapshot["queues"]): Iterable<RunEntries> {
    const now = new Map<string, NamedQueue>();
    const changed: NamedQueue[] = [];
    for (const [id, queue] of queues) {
      now.set(id, queue);
      const before = this.#queues.get(id);
      if (before !== queue) changed.push(queue);
      if (before === queue || before === undefined) continue;
      for (const entry of before.entries) this.#remove(entry);
    }
    for (const [id, before] of this.#queues)
      if (!now.has(id)) for (const entry of before.entries) this.#remove(entry);
    for (const { entries } of changed) for (const entry of entries) this.#add(entry);
    this.#queues = now;
    return this.#runs.values();
  }

  #add(entry: QueueEntry): void {
    const known = this.#runs.get(entry.run);
    if (known === undefined) this.#runs.set(entry.run, entry);
    else if (Array.isArray(known)) known.push(entry);
    else this.#runs.set(entry.run, [known, entry]);
  }

  #remove(entry: QueueEntry): void {
    const known = this.#runs.get(entry.run);
    if (!Array.isArray(known)) {
      if (known === entry) this.#runs.delete(entry.run);
      return;
    }
    const [first, ...others] = known.filter((one) => one !== entry);
    if (first === undefined) this.#runs.delete(entry.run);
    else this.#runs.set(entry.run, others.length === 0 ? first : [first, ...others]);
  }
}

const index = new RunIndex();

/** Lists the queue entries of each run. Valid until the next call. Cheap for a snapshot that follows the one before. */
export function listEntriesByRun({ queues }: Pick<Snapshot, "queues">): Iterable<RunEntries> {
  return index.update(queues);
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
