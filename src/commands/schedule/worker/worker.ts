import { CONNECTION_SETTINGS, type Command, LOGGING_SETTINGS } from "../../spec.ts";

export const worker: Command = {
  id: "worker",
  topic: "Run",
  brief: "run schedules when they are due",
  about: [
    "Takes occurrences of schedules as they become due, as long as it has room, and runs each by the first of its handlers" +
      " whose type matches. Start it on several hosts: each occurrence is taken by one of them, and by another when its worker dies.",
    "Without --handlers it runs schedules that have a command of their own. Whoever may write schedules may thereby run" +
      " commands as the worker's user; --no-commands, or commands: false in the file, forbids that.",
    "TERM, INT and QUIT let what runs end and take nothing more; a second one ends it, for others to take. HUP and USR1 read" +
      " the file again, and keep the old one where the new one is wrong. USR2 opens the log file anew." +
      " Unless told otherwise, it logs at the level info.",
  ],
  flags: [
    { name: "handlers", value: "FILE", help: "handlers by type, as YAML or JSON; see docs/worker.md" },
    {
      name: "environment",
      value: "NAME",
      help: "the part of a file that is keyed by environment (default: SIGNALBOX_ENV, or production)",
    },
    { name: "concurrency", value: "N", help: "tasks that may run at a time (default: 4)" },
    { name: "tag", value: "TAG", isRepeatable: true, help: "a word about this worker, shown to others" },
    { name: "no-commands", help: "leave schedules that have a command of their own to others" },
    { name: "metrics", value: "[HOST:]PORT", help: "serve metrics to Prometheus, and /healthz" },
  ],
  settings: ["host", "ttl", "terminationTimeout", ...LOGGING_SETTINGS, ...CONNECTION_SETTINGS],
  examples: [
    ["signalbox worker", "run schedules that have a command of their own"],
    ["signalbox worker --handlers handlers.yaml --concurrency 8", "run handlers by type, eight at a time"],
    ["signalbox worker --handlers handlers.yaml --metrics :9464", "with metrics for Prometheus"],
  ],
  load: () => import("./worker.impl.ts"),
};
