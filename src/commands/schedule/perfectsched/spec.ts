import { ACTION_FLAGS } from "../../command-line/flags.ts";
import { declareCommand } from "../../declare-command.ts";

export const importPerfectsched = declareCommand({
  id: "import perfectsched",
  topic: "Migrate",
  brief: "create schedules from an export of PerfectSched's table",
  about: [
    "FILE has a line with the column names id, timeout, next_time, cron, delay, data and timezone, and a line per row: comma separated," +
      " or as printed by mysql --batch. It may also be JSON: an array of rows, or one row per line. id, next_time and cron are required.",
    "Stop the PerfectSched workers, export, import, then start signalbox workers: occurrences that were due and not done stay due. The type" +
      " is read from data, as in PerfectSched; without one, it is the id up to the first dot.",
    "All rows are checked first; if some are bad, all of them are listed and nothing is done (exit 78). Then the command asks, and" +
      " writes everything in one transaction. A second import of the same file changes nothing, and no import moves a schedule back in time.",
  ],
  args: { FILE: "the file; - for standard input" },
  flags: {
    "--type TYPE": "type of schedules without a type in data",
    "--prefix-id TEXT": "prefix of the schedules' ids",
    "--source NAME":
      "name of the table as a source, which owns the schedules imported from it (default: perfectsched)",
    "--prune": "also delete schedules imported from this table that it no longer has",
    ...ACTION_FLAGS,
  },
  examples: {
    "signalbox import perfectsched schedules.tsv --dry-run": "what would change?",
    "signalbox import perfectsched schedules.csv --yes": "in a script",
  },
  load: () => import("./import.impl.ts"),
});
