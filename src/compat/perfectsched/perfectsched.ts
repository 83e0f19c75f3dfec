import { declareCommand } from "../../cli/frame/command.ts";
import { EXIT } from "../../core/base/errors.ts";

export const perfectsched = declareCommand({
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
  args: {
    COMMAND: { choices: ["list", "add", "delete", "run", "init"], help: "the subcommand" },
    "[ARG...]": "its arguments",
  },
  takesWords: true,
  failure: EXIT.undone,
  flags: {
    "-e, --environment ENV": "part of the file (default: RAILS_ENV, or development)",
    "-c, --config PATH": "the file (default: config/perfectsched.yml)",
    "-d, --delay SEC": "add: between a scheduled time and its run (default: 0)",
    "-t, --timezone NAME": "add: time zone (default: the configuration's, or UTC)",
    "-s, --start UNIXTIME": "add: first scheduled time (default: now)",
    "-a, --at UNIXTIME": "add: time of the first run (default: start+delay)",
    "-I, --include PATH": { isRepeatable: true, help: "run: also look for files in this folder" },
    "-r, --require PATH": { isRepeatable: true, help: "run: a file of handlers; files of Ruby are ignored" },
  },
  variables: { RAILS_ENV: "the environment, unless -e names one" },
  examples: {
    "signalbox perfectsched list": "with config/perfectsched.yml, as before",
    "perfectsched -e production add s1 user_task '* * * * *' '{}'": "through a link of that name",
    "perfectsched run -Iconfig handlers.yml": "a worker with handlers of its own",
  },
  load: () => import("./perfectsched.impl.ts"),
});
