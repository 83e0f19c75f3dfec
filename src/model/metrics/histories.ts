import type { PastRun } from "../../protocol/history.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { createMetric, type ItemMetric, type MetricFamily, measureItems } from "./metric-family.ts";

/** Maximum number of locks with their own series: the locks that ran last. */
const MOST_LOCKS = 1_000;

/** Measures the last runs of each lock from its history. */
export function measureHistories({ histories }: Snapshot): MetricFamily[] {
  const jobs = [...histories].flatMap(([lock, runs]) => {
    const [last] = runs;
    return last === undefined ? [] : [{ lock, runs, last }];
  });
  const shown = jobs.sort((a, b) => b.last.endedAt - a.last.endedAt).slice(0, MOST_LOCKS);
  return [
    ...measureItems(shown, ({ lock }) => ({ lock }), METRICS),
    createMetric(
      "lock_histories_left_out",
      "Locks with a history that have no series of their own.",
      jobs.length - shown.length,
    ),
  ];
}

/** A lock with a history. */
interface RecordedLock {
  lock: string;
  runs: readonly PastRun[];
  last: PastRun;
}

const METRICS: readonly ItemMetric<RecordedLock>[] = [
  [
    "lock_last_success_timestamp_seconds",
    "When a run of the lock last ended with exit code 0, in seconds since the epoch.",
    ({ runs }) => toSeconds(runs.find(({ exit }) => exit === 0)),
  ],
  [
    "lock_last_end_timestamp_seconds",
    "When the last run of the lock ended, in seconds since the epoch.",
    ({ last }) => toSeconds(last),
  ],
  ["lock_last_exit_code", "Exit code of the last run of the lock.", ({ last }) => last.exit],
  [
    "lock_last_duration_seconds",
    "How long the last run of the lock held it.",
    ({ last }) => Math.max(0, last.held) / 1_000,
  ],
];

function toSeconds(run: PastRun | undefined): number | undefined {
  return run && run.endedAt / 1_000;
}
