import { declareCommand, declareFlags, type FlagsOf } from "../../../frame/command.ts";
import { CHECK_FLAGS } from "../findings.ts";

const CHECK_CRONTAB_FLAGS = declareFlags({
  "--offline": "check only the text; do not connect to etcd",
  "--no-programs":
    "do not look for programs, users and folders on this host; for the crontab of another host",
  "--format FORMAT": {
    choices: ["user", "system", "supercronic"],
    help: "whether lines have a user before the command (system) or not (user), or are those of supercronic, with seconds and years; default: detected from the path or the lines",
  },
  "--as-schedules": "also tell what would change if schedule import made schedules of the lines",
  "--strict": "with --as-schedules: lines that would not mean what they mean in cron are failures",
  "--shared LOCK": {
    isRepeatable: true,
    names: "lock",
    help: "do not report that different commands share this lock",
  },
  ...CHECK_FLAGS,
});

export type CheckCrontabFlags = FlagsOf<typeof CHECK_CRONTAB_FLAGS>;

export const checkCrontab = declareCommand({
  id: "check crontab",
  topic: "Check",
  brief: "check the signalbox and switchman lines of crontabs",
  about: [
    "Parses every line as cron, the shell and signalbox run do, and reports what is wrong: times that never come," +
      " an unescaped %, unknown options, groups and resources that are not configured, leases that no host can be" +
      " granted, one lock for different commands. Lines of cronlock, golock and zoo-locked are only counted; signalbox migrate" +
      " crontab --check checks them.",
    "Of all lines, also those without signalbox, it reports times that never come, lines that stand twice, typographic quotes and dashes," +
      " and files of cron.d that cron ignores.",
    "Looks on this host for the programs of each line and for the Node that signalbox needs, in the PATH of the crontab or, without one," +
      " in cron's own PATH, /usr/bin:/bin; for the user, and for the folders of cd and of redirections. --no-programs and --offline skip this." +
      " Starts nothing.",
    "A folder stands for the files in it, - for standard input. The exit code is 0 if all is fine, 1 with warnings, 2 with" +
      " failures, 69 if etcd could not be read.",
  ],
  args: { "FILE...": "crontabs; - for standard input" },
  flags: CHECK_CRONTAB_FLAGS,
  examples: {
    "signalbox check crontab /etc/crontab /etc/cron.d": "all crontabs of this host",
    "crontab -l | signalbox check crontab -": "your own crontab",
    "signalbox check crontab --offline deploy/crontab": "in CI, without etcd",
    "signalbox check crontab --as-schedules /etc/cron.d/app": "before an import",
    "signalbox check crontab --nagios /etc/cron.d": "for monitoring",
  },
  load: () => import("./check-crontab.impl.ts"),
});
