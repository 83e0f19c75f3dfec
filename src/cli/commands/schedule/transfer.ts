import { CATCHUPS, IMPORT_HOSTS, OVERLAPS } from "../../../schedule/definition-values.ts";
import { type ArgumentDetails, declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { ACTION_FLAGS } from "../../frame/command-line/flags.ts";

const KIND: ArgumentDetails = { choices: ["crontab"], help: "the format of the file" };
const FILES: ArgumentDetails = { help: "the files; - for standard input" };

const READING_FLAGS = declareFlags({
  "--format FORMAT": {
    choices: ["user", "system", "supercronic"],
    help: "whether lines have a user before the command (system) or not (user), or are those of supercronic, with seconds and years; default: detected from the path or the lines",
  },
  "--timezone ZONE": "time zone of lines without CRON_TZ (default: this host's)",
  "--on every-host|one-host": {
    choices: IMPORT_HOSTS,
    help: "where each line runs: on every host (of --host-group, if given), or on one; by default, lines that seem to maintain their host run on every host",
  },
  "--host-group GROUP": { names: "group", help: "run them only on hosts of this group" },
  "--prefix-id TEXT": "prefix of the schedules' ids",
  "--source NAME":
    "name of the file as a source, which owns the schedules imported from it (default: its name)",
  "--worker-user USER": "the user of the workers (default: you); lines of other users are refused",
  "--sudo": "run lines of other users with sudo -n",
  "--catchup RULE": { choices: CATCHUPS, help: "which missed occurrences to run (default: latest)" },
  "--overlap RULE": {
    choices: OVERLAPS,
    help: "if the previous run is still running (default: forbid; cron allows it)",
  },
  "--strict":
    "refuse the file if a line would not mean what it means in cron, or stays with cron, instead of noting it",
  "--prune": "also delete schedules imported from this source that the file no longer has",
});

export type ReadingFlags = FlagsOf<typeof READING_FLAGS>;

const SCHEDULE_IMPORT_FLAGS = declareFlags({ ...READING_FLAGS, ...ACTION_FLAGS });

export type ScheduleImportFlags = FlagsOf<typeof SCHEDULE_IMPORT_FLAGS>;

const scheduleImport = declareCommand({
  id: "schedule import",
  topic: "Schedule",
  brief: "create schedules from a crontab",
  about: [
    "Each line that starts a command becomes a schedule. Its id comes from that command, so a second import of the same file" +
      " changes nothing, and a line with another time changes its schedule. The comments right above a line become the note" +
      " of the schedule, the variables above it the variables of its command; SHELL, CRON_TZ, RANDOM_DELAY and % have the" +
      " meaning that cron gives them. A command starts in the home of its user, with an empty standard input. Lines that take a lock (signalbox run, flock, …) or leave a process in the background stay with cron;" +
      " the import lists them. Lines that maintain their host (run-parts, logrotate) and lines of @reboot become schedules that run on every host.",
    "Schedules of a crontab belong to the file (--source). The next import updates them, except whether they are paused, and" +
      " never changes other schedules. All lines of all files are checked first. If some are bad, the import lists them all and changes" +
      " nothing (exit 78). Otherwise it asks, and writes everything in one transaction. If that is too large for etcd (more than some 1,800 schedules) or others" +
      " write all the time, it is several, one after the other; if they are interrupted, another import does the rest.",
    "cron skips missed occurrences and lets runs overlap. Here, the latest missed occurrence is run and runs do not" +
      " overlap, unless --catchup and --overlap change this.",
  ],
  args: { KIND, "FILE...": FILES },
  flags: SCHEDULE_IMPORT_FLAGS,
  examples: {
    "crontab -l | signalbox schedule import crontab - --source ann --dry-run":
      "what would change with your crontab?",
    "signalbox schedule import crontab /etc/cron.d/backup --worker-user root --prune --yes": "in a script",
    "signalbox schedule import crontab /etc/crontab /etc/cron.d/* --worker-user root":
      "once, from one host: what maintains a host then runs on each",
  },
  load: async () => (await import("./transfer.impl.ts")).importSchedules,
});

const SCHEDULE_DIFF_FLAGS = declareFlags({ ...READING_FLAGS, "--json": "as JSON" });

export type ScheduleDiffFlags = FlagsOf<typeof SCHEDULE_DIFF_FLAGS>;

const scheduleDiff = declareCommand({
  id: "schedule diff",
  topic: "Schedule",
  brief: "show what schedule import would change",
  about: [
    "Nothing is written. The exit code is 1 if something would change, 0 if not, and 78 for a bad file.",
  ],
  args: { KIND, "FILE...": FILES },
  flags: SCHEDULE_DIFF_FLAGS,
  examples: {
    "signalbox schedule diff crontab /etc/cron.d/backup --prune":
      "do the file and the schedules still match?",
  },
  load: async () => (await import("./transfer.impl.ts")).diffSchedules,
});

const IMPORT_PERFECTSCHED_FLAGS = declareFlags({
  "--type TYPE": "type of schedules without a type in data",
  "--prefix-id TEXT": "prefix of the schedules' ids",
  "--source NAME":
    "name of the table as a source, which owns the schedules imported from it (default: perfectsched)",
  "--prune": "also delete schedules imported from this table that it no longer has",
  ...ACTION_FLAGS,
});

export type ImportPerfectschedFlags = FlagsOf<typeof IMPORT_PERFECTSCHED_FLAGS>;

export const importPerfectsched = declareCommand({
  id: "import perfectsched",
  topic: "Migrate",
  brief: "create schedules from an export of PerfectSched's table",
  about: [
    "FILE has a line with the column names id, timeout, next_time, cron, delay, data and timezone, and a line per row: comma separated," +
      " or as printed by mysql --batch. It may also be JSON: an array of rows, or one row per line. id, next_time and cron are required.",
    "Stop the PerfectSched workers, export, import, then start signalbox workers: occurrences that were due and not done stay due. The type" +
      " is read from data, as in PerfectSched; without one, it is the id up to the first dot.",
    "All rows are checked first; if some are bad, all of them are listed and nothing is changed (exit 78). Then the command asks, and" +
      " writes everything in one transaction, or in several, as with schedule import. A second import of the same file changes nothing, and no import moves a schedule back in time.",
  ],
  args: { FILE: "the file; - for standard input" },
  flags: IMPORT_PERFECTSCHED_FLAGS,
  examples: {
    "signalbox import perfectsched schedules.tsv --dry-run": "what would change?",
    "signalbox import perfectsched schedules.csv --yes": "in a script",
  },
  load: async () => (await import("./transfer.impl.ts")).importPerfectschedTable,
});

export const SCHEDULE_TRANSFERS = [scheduleImport, scheduleDiff] as const;
