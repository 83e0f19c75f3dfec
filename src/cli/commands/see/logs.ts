import { CONNECTION_SETTINGS, declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { parseWrittenPastTime } from "../../frame/command-line/instant.ts";
import { createCountParser } from "../../frame/command-line/values.ts";

const LOGS_FLAGS = declareFlags({
  "-f, --follow": "also what the run will write, until it ends",
  "--tail N": { parse: createCountParser(0), help: "only the last N lines" },
  "--since TIME": {
    parse: parseWrittenPastTime,
    help: "only what was written since then: 10m for ten minutes ago, 03:00 or 2026-11-22T05:00Z (UTC)",
  },
  "--raw": "the bytes as they are, also on a terminal",
});

export type LogsFlags = FlagsOf<typeof LOGS_FLAGS>;

export const logs = declareCommand({
  id: "logs",
  topic: "See",
  brief: "what a run wrote, from any host, while it runs and afterwards",
  about: [
    "Shows the kept output of a run, or of the present or last run of a lock or schedule. Workers keep the output of their tasks," +
      " and signalbox run with --capture that of its command. The host of the run is asked through etcd, which needs" +
      " the permission to write output/; if it does not answer, the last 4 KiB are shown, which are stored in etcd.",
    "On a terminal, control characters are removed. Otherwise, or with --raw, the bytes are those of the command, and what it wrote to" +
      " standard error is written there.",
  ],
  args: { NAME: { names: ["lock", "schedule", "run"], help: "id of a run, or name of a lock or schedule" } },
  flags: LOGS_FLAGS,
  settings: ["outputDirectory", "host", ...CONNECTION_SETTINGS],
  examples: {
    "signalbox logs invoices": "the output of the lock's holder, or of its last run",
    "signalbox logs -f nightly-report": "follow the task that runs now",
    "signalbox logs --tail 20 k3jq0v9xw2m8r5t1": "the last lines of one run",
  },
  load: () => import("./logs.impl.ts"),
});
