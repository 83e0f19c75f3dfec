import { addMs } from "../../core/base/clock.ts";
import { NO_OUTCOMES } from "../../schedule/state/outcome.ts";
import { NEVER_DUE } from "../../schedule/timing.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";
import { type ClaimedOccurrence, type RunningReader, readRunning } from "../claims/claim-occurrence.ts";
import { applyCompletion, completeTask } from "./complete-task.ts";

/** How long a call to give a claim back may be retried, ms. The next change of the schedule tries again. */
const RELEASE_WITHIN = 10_000;

/**
 * Creates what gives back occurrences that this worker has claimed without knowing it. A claim that etcd has refused can still be
 * applied: a copy of the request arrives late, when what refused it is gone, for example a drain. Nothing else would remove its
 * running key while the worker lives.
 * @param isKnown  whether a run is a task of this worker
 * @returns a function to call when a schedule has changed, and no claim of it is under way
 */
export function createStrayRelease(
  context: RunningReader,
  isKnown: (run: string) => boolean,
): (entry: CachedSchedule) => void {
  const { ports, cache } = context;
  const { clock, log, keys } = ports;
  const worker = context.registration.id;
  const releasing = new Set<string>();
  /** Runs whose running keys are read. */
  const reading = new Set<string>();

  /** Whether a running key goes with the state of the entry, and not with that of a host, or the other way round. */
  const isOf = ({ host }: CachedSchedule, key: string) => {
    const parsed = keys.parse(key);
    return parsed.kind === "running" && parsed.host === host;
  };

  const release = async (claimed: ClaimedOccurrence) => {
    const { host, run, scheduled, attempt } = claimed.running;
    const outcome = {
      scheduled,
      run,
      worker,
      host,
      attempt,
      result: "released" as const,
      endedAt: clock.getWallTime(),
      reason: "a late copy of a refused claim was applied",
    };
    releasing.add(claimed.key);
    try {
      const completion = await completeTask(ports, claimed, { outcome }, addMs(clock.now(), RELEASE_WITHIN));
      applyCompletion(cache, keys, claimed, completion);
      if (completion.kind === "settled")
        log.warn("gave back an occurrence: a late copy of a refused claim was applied", {
          schedule: claimed.id,
        });
    } finally {
      releasing.delete(claimed.key);
    }
  };

  /** Reads the running key of a start that the state shows: the cache then reports it, and it is given back. */
  const read = async (entry: CachedSchedule, run: string) => {
    reading.add(run);
    try {
      await readRunning(context, entry);
    } finally {
      reading.delete(run);
    }
  };

  return (entry) => {
    for (const { session } of entry.due?.open ?? []) {
      const isStray = session?.worker === worker && !isKnown(session.run) && !reading.has(session.run);
      if (isStray && !hasKeyOf(entry, session.run)) void read(entry, session.run).catch(() => {}); // the next change tries again
    }
    for (const [key, { running, createRevision }] of entry.running) {
      const isStray = running?.worker === worker && !isKnown(running.run) && isOf(entry, key);
      const claimed = isStray && !releasing.has(key) && buildClaim(entry, key, createRevision);
      if (claimed) void release(claimed).catch(() => {}); // the next change tries again
    }
  };
}

function hasKeyOf({ running }: CachedSchedule, run: string): boolean {
  return [...running.values()].some((one) => one.running?.run === run);
}

function buildClaim(
  { id, host, name, definition, due, dueMod, running }: CachedSchedule,
  key: string,
  token: bigint,
): ClaimedOccurrence | undefined {
  const record = running.get(key)?.running;
  if (definition === undefined || record === undefined) return undefined;
  const { scheduled, attempt } = record;
  const state = due ?? { runAt: 0, open: [] };
  const open = state.open.find((one) => one.scheduled === scheduled);
  return {
    id,
    host,
    name,
    definition,
    running: record,
    key,
    token,
    open: open ?? { scheduled, runAt: scheduled, attempt, failures: 0, kind: "due" },
    due: { value: state, mod: dueMod },
    outcomes: { value: NO_OUTCOMES, mod: 0n },
    checkpoint: { key: "", last: undefined, mayExist: false },
    // It is given back, so nothing follows, and nothing is removed.
    getTiming: () => NEVER_DUE,
    chooseResultSession: async () => undefined,
  };
}
