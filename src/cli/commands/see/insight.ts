import { DRAIN_SCOPES } from "../../../core/protocol/keys.ts";
import { declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { JSON_FLAGS } from "../../frame/command-line/flags.ts";
import { parseWrittenPastTime } from "../../frame/command-line/instant.ts";
import { createCountParser } from "../../frame/command-line/values.ts";

const TIMELINE_FLAGS = declareFlags({
  "--since TIME": {
    parse: parseWrittenPastTime,
    help: "start: an instant such as 2026-11-22T05:00Z (UTC), or a duration before now (default: 1h)",
  },
  "--width COLUMNS": {
    parse: createCountParser(10),
    help: "columns of the bars, 10 to 1000 (default: as wide as the terminal)",
  },
  "--json": "as JSON: the intervals",
});

/** Values of these flags. */
export type TimelineFlags = FlagsOf<typeof TIMELINE_FLAGS>;

const timeline = declareCommand({
  id: "timeline",
  topic: "See",
  brief: "bars of holds, waits and drains over time",
  about: [
    "A line for each lock, resource and schedule: when it was held or ran, when runs waited, and when it was drained. The history of a lock has" +
      " its last 20 runs, that of a schedule what its --keep and --keep-for keep. What runs with a lock and tasks held of a resource is in these histories; of others," +
      " only what they hold and wait for now is shown. Drains that were lifted or have ended are known from the actions of operators.",
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
const whatIfDrain = declareCommand({
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

const WHAT_IF_RESET_FLAGS = declareFlags({
  "--run RUN": { names: "run", help: "reset only this run (its full id)" },
  ...JSON_FLAGS,
});

/** Values of these flags. */
export type WhatIfResetFlags = FlagsOf<typeof WHAT_IF_RESET_FLAGS>;

const whatIfReset = declareCommand({
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

const whatIfTotal = declareCommand({
  id: "whatif total",
  topic: "See",
  brief: "what a new total would do now: who leaves, who is granted, in which order",
  about: [ORDER],
  args: { RESOURCE: { names: "resource", help: "name of the resource" }, TOTAL: "units, a whole number" },
  flags: JSON_FLAGS,
  examples: { "signalbox whatif total db 20": "which waiting runs would a total of 20 units let start?" },
  load: async () => (await import("./insight.impl.ts")).previewTotal,
});

/** In the order of the help. */
export const INSIGHT_COMMANDS = [timeline, whatIfDrain, whatIfReset, whatIfTotal] as const;
