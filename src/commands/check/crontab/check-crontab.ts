import { CONNECTION_SETTINGS, type Command } from "../../spec.ts";
import { CHECK_FLAGS } from "../findings.ts";

export const checkCrontab: Command = {
  id: "check crontab",
  topic: "Check",
  brief: "check the signalbox and switchman lines of crontabs",
  about: [
    "Reads every line as cron, the shell and signalbox run would, and says what is wrong with it: schedules that never come," +
      " a % too many, options that are none, groups and resources that are not configured, leases that no host could be" +
      " granted, one lock for different commands. Lines of cronlock, golock and zoo-locked are counted only; signalbox migrate" +
      " crontab --check reads them.",
    "Looks on this host for the program of each line and for the Node that it needs, with the crontab's PATH= line or, without one," +
      " with cron's own PATH, /usr/bin:/bin. --no-programs and --offline leave that out. Starts nothing.",
    "A folder stands for the files in it, - for standard input. The exit code is 0 where all is fine, 1 with warnings, 2 with" +
      " failures, 69 where etcd could not be asked.",
  ],
  args: [{ name: "FILE", isRest: true, help: "crontabs; - for standard input" }],
  flags: [
    { name: "offline", help: "do not ask etcd what is configured; check the text alone" },
    {
      name: "no-programs",
      help: "the crontab is for another host: do not look here for the programs that it starts",
    },
    {
      ...{ name: "format", value: "FORMAT", choices: ["user", "system"] },
      help: "whether lines have a user before the command (system) or not (user); default: as the path or the lines suggest",
    },
    {
      ...{ name: "shared", value: "LOCK", isRepeatable: true, names: "lock" },
      help: "different commands are meant to have this lock in common",
    },
    ...CHECK_FLAGS,
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox check crontab /etc/crontab /etc/cron.d", "all of this host's"],
    ["crontab -l | signalbox check crontab -", "the own one"],
    ["signalbox check crontab --offline deploy/crontab", "in CI, where etcd is out of reach"],
    ["signalbox check crontab --nagios /etc/cron.d", "for monitoring"],
  ],
  load: () => import("./check-crontab.impl.ts"),
};
