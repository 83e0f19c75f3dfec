import { EXIT } from "../../base/errors.ts";
import type { Command } from "../../commands/spec.ts";

export const perfectsched: Command = {
  id: "perfectsched",
  topic: "Migrate",
  brief: "manage schedules with PerfectSched's own command line",
  about: [
    "Takes what PerfectSched's command takes, also through a link of its name: list, add KEY TYPE CRON DATA, delete KEY," +
      " run CLASS, init. Options may be anywhere. Every error ends with exit code 1, misuse after the usage text.",
    "The configuration is PerfectSched's file, keyed by environment; add endpoints to it, and prefix if it is not the default." +
      " The schedules are those of signalbox: `signalbox schedule` and the console show them.",
    "run starts a worker of signalbox. CLASS is a file of handlers, or the name of an environment in one; for a class of Ruby, the" +
      " handlers in the configuration are used. docs/migrate/perfectsched.md explains the migration.",
  ],
  args: [
    { name: "COMMAND", choices: ["list", "add", "delete", "run", "init"], help: "the subcommand" },
    { name: "ARG", isOptional: true, isRest: true, help: "its arguments" },
  ],
  takesWords: true,
  failure: EXIT.undone,
  flags: [
    {
      name: "environment",
      short: "e",
      value: "ENV",
      help: "part of the file (default: RAILS_ENV, or development)",
    },
    { name: "config", short: "c", value: "PATH", help: "the file (default: config/perfectsched.yml)" },
    {
      name: "delay",
      short: "d",
      value: "SEC",
      help: "add: between a scheduled time and its run (default: 0)",
    },
    {
      name: "timezone",
      short: "t",
      value: "NAME",
      help: "add: time zone (default: the configuration's, or UTC)",
    },
    { name: "start", short: "s", value: "UNIXTIME", help: "add: first scheduled time (default: now)" },
    { name: "at", short: "a", value: "UNIXTIME", help: "add: time of the first run (default: start+delay)" },
    {
      name: "include",
      short: "I",
      value: "PATH",
      isRepeatable: true,
      help: "run: also look for files in this folder",
    },
    {
      name: "require",
      short: "r",
      value: "PATH",
      isRepeatable: true,
      help: "run: a file of handlers; files of Ruby are ignored",
    },
  ],
  variables: [["RAILS_ENV", "the environment, unless -e names one"]],
  examples: [
    ["signalbox perfectsched list", "with config/perfectsched.yml, as before"],
    ["perfectsched -e production add s1 user_task '* * * * *' '{}'", "through a link of that name"],
    ["perfectsched run -Iconfig handlers.yml", "a worker with handlers of its own"],
  ],
  load: () => import("./perfectsched.impl.ts"),
};
