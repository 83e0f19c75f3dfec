import { CONNECTION_SETTINGS, type Command } from "../../spec.ts";

export const historyCommand: Command = {
  id: "history",
  topic: "See",
  brief: "the last runs of a lock: when, where, how long, how they ended",
  about: ["A lock remembers its last 20 runs, unless they were started with --no-history."],
  args: [{ name: "LOCK", names: "lock", help: "name of the lock" }],
  flags: [
    { name: "limit", value: "N", help: "only the newest N" },
    { name: "json", help: "as JSON" },
  ],
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox history invoices", "newest first"]],
  load: () => import("./history.impl.ts"),
};

export const STATISTICS_ORDERS = ["name", "runs", "failures", "busy", "held", "waited", "last"] as const;

export const stats: Command = {
  id: "stats",
  topic: "See",
  brief: "how busy locks are, how long they are held and waited for",
  about: [
    "Of each lock's last 20 runs: how many failed (exit other than 0), the share of the time since the first of them that the" +
      " lock was held, and the durations that half (p50) and 95 % (p95) of them did not exceed.",
  ],
  args: [{ name: "LOCK", names: "lock", isOptional: true, isRest: true, help: "only these; default: all" }],
  flags: [
    {
      name: "sort",
      value: "ORDER",
      choices: STATISTICS_ORDERS,
      help: "name (the default), or largest first: runs, failures, busy, held, waited, last",
    },
    { name: "json", help: "as JSON" },
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox stats", "all locks"],
    ["signalbox stats --sort busy", "which locks are a bottleneck?"],
    ["signalbox stats --sort failures --json", "for programs"],
  ],
  load: () => import("./stats.impl.ts"),
};
