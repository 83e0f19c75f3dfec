import { ACTION_FLAGS } from "../../command-line/flags.ts";
import { CONNECTION_SETTINGS, type Command } from "../../spec.ts";

export const importPerfectsched: Command = {
  id: "import perfectsched",
  topic: "Migrate",
  brief: "make schedules of an export of PerfectSched's table",
  about: [
    "FILE has the columns id, timeout, next_time, cron, delay, data and timezone under a line with their names: comma separated," +
      " as mysql --batch prints it, or JSON, an array of rows or a row a line. id, next_time and cron must be there.",
    "Stop its workers, export, import, start ours: what was due there and not done is due here, at the same time. The type" +
      " stands in data, as there; without one, the id up to its first dot is it.",
    "All rows are checked first; if one is bad, all that are are told, and nothing is done (exit 78). Then it is asked, and" +
      " everything is written in one transaction. The same file again changes nothing, and no import moves a schedule back.",
  ],
  args: [{ name: "FILE", help: "where it stands; - is standard input" }],
  flags: [
    { name: "type", value: "TYPE", help: "of schedules whose data name none" },
    { name: "prefix-id", value: "TEXT", help: "what their ids begin with" },
    {
      name: "source",
      value: "NAME",
      help: "what the table is known by; it owns the schedules that came from it (default: perfectsched)",
    },
    { name: "prune", help: "also delete schedules that came from this table and are gone from it" },
    ...ACTION_FLAGS,
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox import perfectsched schedules.tsv --dry-run", "what would become of them?"],
    ["signalbox import perfectsched schedules.csv --yes", "from a script"],
  ],
  load: () => import("./import.impl.ts"),
};
