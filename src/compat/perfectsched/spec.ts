import { EXIT } from "../../base/errors.ts";
import type { Command } from "../../commands/spec.ts";

export const perfectsched: Command = {
  id: "perfectsched",
  topic: "Migrate",
  brief: "manage schedules with PerfectSched's own command line",
  about: [
    "Takes what PerfectSched's command takes, also through a link of its name: list, add KEY TYPE CRON DATA, delete KEY," +
      " run CLASS, init. Options stand anywhere. Whatever goes wrong ends with exit code 1, misuse after the usage text.",
    "The configuration is its own file, keyed by environment; add endpoints to it, and prefix where it is not the usual one." +
      " Its schedules are ours: `signalbox schedule` and the console show them.",
    "run starts our worker. CLASS is a file of handlers, or the name of an environment in one; a class of Ruby is replaced by" +
      " what the configuration names under handlers. docs/migrate/perfectsched.md tells how to move.",
  ],
  args: [
    { name: "COMMAND", choices: ["list", "add", "delete", "run", "init"], help: "what to do" },
    { name: "ARG", isOptional: true, isRest: true, help: "what that needs" },
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
      help: "run: look for files there, too",
    },
    {
      name: "require",
      short: "r",
      value: "PATH",
      isRepeatable: true,
      help: "run: a file of handlers; Ruby's are passed over",
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
