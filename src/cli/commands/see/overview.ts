import { declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { createCountParser } from "../../frame/command-line/values.ts";

const OVERVIEW_FLAGS = declareFlags({
  "--watch": "repaint every second; needs a terminal",
  "--width COLUMNS": {
    parse: createCountParser(40),
    help: "columns of the picture, 40 or more (default: as wide as the terminal)",
  },
  "--ascii": "only ASCII characters",
  "--json": "as JSON; docs/json.md describes it",
});

export type OverviewFlags = FlagsOf<typeof OVERVIEW_FLAGS>;

export const overview = declareCommand({
  id: "overview",
  topic: "See",
  brief: "the whole site as one picture",
  about: [
    "Shows how many runs hold and wait, the hosts by the load of their fullest resource, a graph of holders and waiters over the last" +
      " hour, the longest queues, the next runs of schedules, the last failures, and whether etcd answers.",
    "The graph is drawn from what is stored: tickets, the last 20 runs of each lock, and the last run of each schedule. Runs that only" +
      " leased resources and have ended, and runs that gave up waiting, are not recorded.",
  ],
  flags: OVERVIEW_FLAGS,
  examples: {
    "signalbox overview": "how is everything?",
    "signalbox overview --watch": "a live picture",
    "signalbox overview --json | jq .counts": "for programs",
  },
  load: async () => (await import("./overview.impl.ts")).showOverview,
});
