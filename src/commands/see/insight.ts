import { DRAIN_SCOPES } from "../../protocol/keys.ts";
import { JSON_FLAGS } from "../command-line/flags.ts";
import { declareCommand, type FlagsOf, type FlagTable } from "../spec.ts";

const COLLISIONS_FLAGS = {
  "--within DURATION": "how far to look ahead, at most 31d (default: 24h)",
  "--json": "as JSON",
} satisfies FlagTable;

/** Values of these flags. */
export type CollisionsFlags = FlagsOf<typeof COLLISIONS_FLAGS>;

export const collisions = declareCommand({
  id: "collisions",
  topic: "See",
  brief: "which schedules compete for the same minutes, leases or locks",
  about: [
    "Lists, for the coming time: schedules that start in the same minute; leases of which the runs together need more units than" +
      " the total; and runs that usually have not ended when the next one starts that they exclude: of the same schedule, or with" +
      " the same lock (`signalbox run --lock` in the command).",
    "The usual duration is the median of the recorded runs. A run without a record counts as one minute for leases. Leases with" +
      " macros differ between hosts and are left out. Prints the commands that would spread the schedules, and changes nothing.",
  ],
  args: { "[SCHEDULE...]": "only what competes with one of these (default: all schedules)" },
  flags: COLLISIONS_FLAGS,
  examples: {
    "signalbox collisions": "what competes in the next 24 hours?",
    "signalbox collisions backup": "with what does this schedule compete?",
    "signalbox collisions --within 7d --json | jq -r '.suggestions[].command'": "commands for a week",
  },
  load: async () => (await import("./insight.impl.ts")).showCollisions,
});

const TIMELINE_FLAGS = {
  "--since TIME": "start: an instant such as 2026-11-22T05:00Z (UTC), or a duration before now (default: 1h)",
  "--width COLUMNS": "columns of the bars, 10 to 1000 (default: as wide as the terminal)",
  "--json": "as JSON: the intervals",
} satisfies FlagTable;

/** Values of these flags. */
export type TimelineFlags = FlagsOf<typeof TIMELINE_FLAGS>;

export const timeline = declareCommand({
  id: "timeline",
  topic: "See",
  brief: "bars of holds, waits and drains over time",
  about: [
    "A line for each lock, resource and schedule: when it was held or ran, when runs waited, and when it was drained. The history of a lock has" +
      " its last 20 runs, that of a schedule what its --keep and --keep-for keep. Resources have no history: only what is held and waited for" +
      " now is shown. Drains that were lifted or have ended are known from the actions of operators.",
    "The signs are ASCII if the locale has no UTF-8.",
  ],
  args: {
    "[NAME...]": {
      names: ["lock", "resource", "schedule"],
      help: "only these locks, resources and schedules",
    },
  },
  flags: TIMELINE_FLAGS,
  examples: {
    "signalbox timeline": "the last hour",
    "signalbox timeline invoices backup --since 1d": "how often do these two wait?",
  },
  load: async () => (await import("./insight.impl.ts")).showTimeline,
});

const ORDER =
  "The order follows the rules that runs use for their grants: `now` is granted at once, `then 1` when the runs that hold these locks and" +
  " resources have ended, `then 2` when those of `then 1` have ended. It assumes that no other run joins or leaves. Runs that wait for a" +
  " lock request their leases later, so their leases are not known. Changes nothing.";
export const whatIfDrain = declareCommand({
  id: "whatif drain",
  topic: "See",
  brief: "what a drain would do now: who leaves, who is still granted, in which order",
  about: [ORDER],
  args: {
    SCOPE: { choices: DRAIN_SCOPES, help: "what to drain" },
    "[NAME]": { names: ["lock", "resource", "host", "group"], help: "its name; none for all" },
  },
  flags: JSON_FLAGS,
  examples: {
    "signalbox whatif drain host web1.example.com": "which runs would the drain of this host stop?",
  },
  load: async () => (await import("./insight.impl.ts")).previewDrain,
});

const WHAT_IF_RESET_FLAGS = {
  "--run RUN": { names: "run", help: "reset only this run (its full id)" },
  ...JSON_FLAGS,
} satisfies FlagTable;

/** Values of these flags. */
export type WhatIfResetFlags = FlagsOf<typeof WHAT_IF_RESET_FLAGS>;

export const whatIfReset = declareCommand({
  id: "whatif reset",
  topic: "See",
  brief: "what a reset would do now: who ends, who is granted, in which order",
  about: [ORDER],
  args: {
    KIND: { choices: ["lock", "resource"], help: "kind of object" },
    NAME: { names: ["lock", "resource"], help: "its name" },
  },
  flags: WHAT_IF_RESET_FLAGS,
  examples: { "signalbox whatif reset lock invoices": "who gets the lock after a reset?" },
  load: async () => (await import("./insight.impl.ts")).previewReset,
});

export const whatIfTotal = declareCommand({
  id: "whatif total",
  topic: "See",
  brief: "what a new total would do now: who leaves, who is granted, in which order",
  about: [ORDER],
  args: { RESOURCE: { names: "resource", help: "name of the resource" }, TOTAL: "units, a whole number" },
  flags: JSON_FLAGS,
  examples: { "signalbox whatif total db 20": "which waiting runs would a total of 20 units let start?" },
  load: async () => (await import("./insight.impl.ts")).previewTotal,
});
