import { CATCHUPS, OVERLAPS } from "../../../schedule/definition.ts";
import { ACTION_FLAGS } from "../../command-line/flags.ts";
import { type Argument, CONNECTION_SETTINGS, type Command, type Flag } from "../../spec.ts";

const KIND: Argument = { name: "KIND", choices: ["crontab", "json"], help: "what the file is" };
const FILE: Argument = { name: "FILE", help: "where it stands; - is standard input" };

const READING_FLAGS: readonly Flag[] = [
  {
    ...{ name: "format", value: "FORMAT", choices: ["user", "system"] },
    help: "of a crontab: whether lines have a user before the command (system) or not (user); default: as the path or the lines suggest",
  },
  {
    name: "timezone",
    value: "ZONE",
    help: "whose clock it means where CRON_TZ says nothing (default: this host's)",
  },
  { name: "host-group", value: "GROUP", names: "group", help: "only hosts of this group run them" },
  { name: "prefix-id", value: "TEXT", help: "what their ids begin with" },
  {
    name: "source",
    value: "NAME",
    help: "what the file is known by; it owns the schedules that came from it (default: its name)",
  },
  {
    name: "worker-user",
    value: "USER",
    help: "whom workers run as (default: you); lines of other users are refused",
  },
  { name: "sudo", help: "run lines of other users through sudo -n instead" },
  { name: "catchup", value: "RULE", choices: CATCHUPS, help: "missed occurrences (default: latest)" },
  {
    name: "overlap",
    value: "RULE",
    choices: OVERLAPS,
    help: "while the one before runs (default: forbid; cron's own way is allow)",
  },
  {
    name: "prune",
    help: "also delete schedules that came from this file and are gone from it; with json, all that it has not",
  },
];

export const scheduleImport: Command = {
  id: "schedule import",
  topic: "Schedule",
  brief: "make schedules of a crontab, or of what schedule export wrote",
  about: [
    "Each line that starts a command becomes a schedule. Its id comes from that command, so a second import of the same file" +
      " changes nothing, and a line with another time changes its schedule. The comments right above a line become the note" +
      " of the schedule, the variables above it the variables of its command; SHELL, CRON_TZ, RANDOM_DELAY and % have the" +
      " meaning that cron gives them. Lines of @reboot and lines that take a lock (signalbox run, flock, …) stay with cron;" +
      " the import lists them. It warns of lines that maintain each host itself (run-parts, logrotate).",
    "Schedules of a crontab belong to the file (--source). The next import updates them, except whether they are paused, and" +
      " never changes other schedules. All lines are checked first. If some are bad, the import lists them all and changes" +
      " nothing (exit 78). Otherwise it asks, and writes everything in one transaction.",
    "cron makes up for nothing and lets runs overlap. Here, the latest missed occurrence is made up for and runs do not" +
      " overlap, unless --catchup and --overlap say otherwise.",
  ],
  args: [KIND, FILE],
  flags: [...READING_FLAGS, ...ACTION_FLAGS],
  settings: CONNECTION_SETTINGS,
  examples: [
    [
      "crontab -l | signalbox schedule import crontab - --source ann --dry-run",
      "what would become of yours?",
    ],
    [
      "signalbox schedule import crontab /etc/cron.d/backup --worker-user root --prune --yes",
      "from a script: as the file says",
    ],
    ["signalbox schedule import json schedules.json", "what schedule export wrote"],
  ],
  load: () => import("./import.impl.ts"),
};

export const scheduleDiff: Command = {
  id: "schedule diff",
  topic: "Schedule",
  brief: "show what schedule import would change",
  about: [
    "Nothing is written. The exit code is 1 where something would change, 0 where nothing would, and 78 for a bad file.",
  ],
  args: [KIND, FILE],
  flags: [...READING_FLAGS, { name: "json", help: "as JSON" }],
  settings: CONNECTION_SETTINGS,
  examples: [
    [
      "signalbox schedule diff crontab /etc/cron.d/backup --prune",
      "has somebody changed the file, or the schedules?",
    ],
  ],
  load: () => import("./diff.impl.ts"),
};

export const scheduleExport: Command = {
  id: "schedule export",
  topic: "Schedule",
  brief: "write all schedules as JSON, or as a crontab",
  about: [
    "JSON has everything, always in the same order, to be kept in git; `schedule import json` reads it. A crontab has what" +
      " cron can do; the rest is told in comments.",
  ],
  args: [{ name: "FILE", isOptional: true, help: "where to write it; - or nothing is standard output" }],
  flags: [{ name: "format", value: "FORMAT", choices: ["json", "crontab"], help: "default: json" }],
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox schedule export schedules.json", "into a file, to be kept"]],
  load: () => import("./export.impl.ts"),
};
