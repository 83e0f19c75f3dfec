import type { Command } from "../../commands/spec.ts";

export const migrateCrontabCommand: Command = {
  id: "migrate crontab",
  topic: "Migrate",
  brief: "rewrite a crontab for signalbox run",
  about: [
    "Prints the crontab with every line of cronlock, golock, switchman, zoo-locked, flock, setlock, etcdctl lock, consul lock," +
      " lockrun, run-one, solo, lockf, with-lock-ex, lckdo, dotlockfile, chpst -L and sem as a line of signalbox run. Everything else stays byte for byte: comments, spaces, variables, redirections, what" +
      " stands before the tool (nice, sudo, cd x &&). Where the meaning changes, standard error says how.",
    "A line that cannot be translated stays as it is, and standard error says why. What is printed comes out unchanged when it" +
      " is given to the command again.",
    "Old and new locks do not know each other. So that no job runs twice while hosts change over, give all of them what" +
      " --around makes of the old crontab first, and then what is made of it without: docs/migrate.md.",
  ],
  args: [{ name: "FILE", help: "the crontab; - is standard input" }],
  flags: [
    {
      name: "check",
      help: "only report: exit 1 where a line would change or cannot be translated, 0 where nothing is to do",
    },
    {
      name: "around",
      help: "put signalbox run around the tools, which keep their locks: for the time in which some hosts have old lines",
    },
    {
      name: "no-connection",
      help: "leave out where the tools' servers are and how to get in: signalbox's own configuration says it of etcd",
    },
    {
      name: "plain",
      help: "also give a lock to lines that have none: named after their command, without a grace; not to lines that maintain the host itself",
    },
    { name: "in-place", help: "write the file instead of printing it: whole, or not at all" },
    { name: "json", help: "print what becomes of which line, and the new text, as JSON" },
    {
      ...{ name: "format", value: "FORMAT", choices: ["user", "system"] },
      help: "whether a user stands before the command (system) or not; default: as the path or the lines suggest",
    },
    {
      ...{ name: "tool-config", value: "FILE", isRepeatable: true },
      help: "use this in place of /etc/cronlock.conf, or of /etc/switchman.conf if it is JSON; default: the files that the lines mean, as they are on this host",
    },
    { name: "program", value: "PATH", help: "what the new lines call (default: signalbox)" },
  ],
  examples: [
    ["signalbox migrate crontab /etc/cron.d/jobs", "what it would become"],
    ["crontab -l > old && signalbox migrate crontab old > new && crontab new", "the own one"],
    ["signalbox migrate crontab --around old", "both locks, while hosts change over"],
    ["signalbox migrate crontab --check deploy/crontab", "is there anything left to move?"],
    [
      "signalbox migrate crontab --in-place --program /usr/local/bin/signalbox /etc/cron.d/jobs",
      "in the file",
    ],
    ["signalbox migrate crontab --plain crontab.txt", "lines without any lock get one"],
  ],
  load: () => import("./crontab.impl.ts"),
};
