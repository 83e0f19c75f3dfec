import { declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
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

export type TimelineFlags = FlagsOf<typeof TIMELINE_FLAGS>;

export const timeline = declareCommand({
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
  load: async () => (await import("./timeline.impl.ts")).showTimeline,
});
