import { declareCommand, type FlagsOf, type FlagTable } from "../spec.ts";

const HISTORY_FLAGS = {
  "--limit N": "only the newest N",
  "--since TIME":
    "only runs that ended since an instant such as 2026-11-22T05:00Z (UTC), or within a duration such as 2h",
  "--json": "as JSON",
} satisfies FlagTable;

/** Values of these flags. */
export type HistoryFlags = FlagsOf<typeof HISTORY_FLAGS>;

export const historyCommand = declareCommand({
  id: "history",
  topic: "See",
  brief: "the last runs of a lock: time, host, duration and result",
  about: [
    "The history of a lock has its last 20 runs, except those started with --no-history. Exit code 1: it has none.",
  ],
  args: { LOCK: { names: "lock", help: "name of the lock" } },
  flags: HISTORY_FLAGS,
  examples: { "signalbox history invoices": "newest first" },
  load: async () => (await import("./history.impl.ts")).showHistory,
});

const STATISTICS_ORDERS = ["name", "runs", "failures", "busy", "held", "waited", "last"] as const;

const STATS_FLAGS = {
  "--sort ORDER": {
    choices: STATISTICS_ORDERS,
    help: "order by name (the default), or by runs, failures, busy, held, waited or last, the largest first",
  },
  "--json": "as JSON",
} satisfies FlagTable;

/** Values of these flags. */
export type StatsFlags = FlagsOf<typeof STATS_FLAGS>;

export const stats = declareCommand({
  id: "stats",
  topic: "See",
  brief: "how busy locks are, and how long runs hold them and wait for them",
  about: [
    "From the last 20 runs of each lock: how many failed (exit code not 0), the share of the time since the first of them that the" +
      " lock was held, and the durations that 50 % (p50) and 95 % (p95) of them did not exceed. Exit code 1: one of the LOCKs has no run.",
  ],
  args: { "[LOCK...]": { names: "lock", help: "only these locks (default: all)" } },
  flags: STATS_FLAGS,
  examples: {
    "signalbox stats": "all locks",
    "signalbox stats --sort busy": "which locks are a bottleneck?",
    "signalbox stats --sort failures --json": "for programs",
  },
  load: async () => (await import("./history.impl.ts")).showStats,
});
