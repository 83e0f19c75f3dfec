import type { PastRun } from "../../protocol/history.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { createMetric, type MetricFamily, type MetricSample } from "./metric-family.ts";

/** Maximum number of locks with their own series: the locks that ran last. */
const MOST_LOCKS = 1_000;

/** Measures the last runs of each lock from its history. */
export function measureHistories({ histories }: Snapshot): MetricFamily[] {
  const jobs = [...histories].flatMap(([lock, runs]) => {
    const [last] = runs;
    return last === undefined ? [] : [{ lock, runs, last }];
  });
  const shown = jobs.sort((a, b) => b.last.endedAt - a.last.endedAt).slice(0, MOST_LOCKS);
  const buildSamples = (read: (job: (typeof shown)[number]) => number | undefined): MetricSample[] =>
    shown.flatMap((job) => {
      const value = read(job);
      return value === undefined ? [] : [[{ lock: job.lock }, value] as const];
    });
  return [
    {
      name: "lock_last_success_timestamp_seconds",
      help: "When a run of the lock last ended with exit code 0, in seconds since the epoch.",
      samples: buildSamples(({ runs }) => toSeconds(runs.find(({ exit }) => exit === 0))),
    },
    {
      name: "lock_last_end_timestamp_seconds",
      help: "When the last run of the lock ended, in seconds since the epoch.",
      samples: buildSamples(({ last }) => toSeconds(last)),
    },
    {
      name: "lock_last_exit_code",
      help: "Exit code of the last run of the lock.",
      samples: buildSamples(({ last }) => last.exit),
    },
    {
      name: "lock_last_duration_seconds",
      help: "How long the last run of the lock held it.",
      samples: buildSamples(({ last }) => Math.max(0, last.held) / 1_000),
    },
    createMetric(
      "lock_histories_left_out",
      "Locks with a history that have no series of their own.",
      jobs.length - shown.length,
    ),
  ];
}

const toSeconds = (run: PastRun | undefined) => run && run.endedAt / 1_000;
