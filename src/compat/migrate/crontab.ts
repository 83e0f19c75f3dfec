import { declareCommand, declareFlags, type FlagsOf } from "../../cli/frame/command.ts";

const MIGRATE_CRONTAB_FLAGS = declareFlags({
  "--check":
    "only report: exit 1 if a line would change or cannot be translated, 0 if there is nothing to do",
  "--around":
    "put signalbox run around the tools, which keep their locks: for the time when some hosts still have old lines",
  "--no-connection":
    "leave out the addresses and logins of the tools' servers: signalbox's own configuration applies",
  "--plain":
    "also add a lock to lines that have none, named after the command, without a grace; not to lines that maintain the host itself",
  "--in-place": "write the file instead of printing it, completely or not at all",
  "--json": "print the result for each line, and the new text, as JSON",
  "--format FORMAT": {
    choices: ["user", "system", "supercronic"],
    help: "whether lines have a user before the command (system) or not (user), or are those of supercronic; default: as the path or the lines suggest",
  },
  "--tool-config FILE": {
    isRepeatable: true,
    help: "use this in place of /etc/cronlock.conf, or of /etc/switchman.conf if it is JSON; default: the files that the lines refer to, on this host",
  },
  "--program PATH": "program that the new lines call (default: signalbox)",
});

export type MigrateCrontabFlags = FlagsOf<typeof MIGRATE_CRONTAB_FLAGS>;

export const migrateCrontabCommand = declareCommand({
  id: "migrate crontab",
  topic: "Migrate",
  brief: "rewrite a crontab for signalbox run",
  about: [
    "Prints the crontab with every line of cronlock, golock, switchman, zoo-locked, flock, setlock, etcdctl lock, consul lock," +
      " lockrun, run-one, solo, lockf, with-lock-ex, lckdo, dotlockfile, chpst -L and sem as a line of signalbox run. Everything else stays byte for byte: comments, spaces, variables, redirections, the" +
      " words before the tool (nice, sudo, cd x &&). If the meaning changes, standard error says how.",
    "A line that cannot be translated stays unchanged, and standard error says why. A second translation of the output" +
      " changes nothing.",
    "Old and new locks do not exclude each other. So that no job runs twice during the change, first install the output of" +
      " --around on all hosts, and then the output without --around: docs/migrate.md.",
  ],
  args: { FILE: "the crontab; - is standard input" },
  flags: MIGRATE_CRONTAB_FLAGS,
  settings: [],
  examples: {
    "signalbox migrate crontab /etc/cron.d/jobs": "print the translation",
    "crontab -l > old && signalbox migrate crontab old > new && crontab new": "translate your own crontab",
    "signalbox migrate crontab --around old": "hold both locks during the change",
    "signalbox migrate crontab --check deploy/crontab": "check whether lines are left to translate",
    "signalbox migrate crontab --in-place --program /usr/local/bin/signalbox /etc/cron.d/jobs":
      "change the file itself",
    "signalbox migrate crontab --plain crontab.txt": "add locks to lines without a lock",
  },
  load: () => import("./crontab.impl.ts"),
});
