import {
  CONNECTION_SETTINGS,
  declareCommand,
  declareFlags,
  type FlagsOf,
  LOGGING_SETTINGS,
} from "../../frame/command.ts";
import { createCountParser } from "../../frame/command-line/values.ts";

const WORKER_FLAGS = declareFlags({
  "--handlers FILE": "handlers by type, as YAML or JSON; see docs/worker.md",
  "--environment NAME": "the part of the file for this environment (default: SIGNALBOX_ENV, or production)",
  "--concurrency N": {
    parse: createCountParser(1),
    help: "maximum number of tasks at a time (default: 4)",
  },
  "--tag TAG": { isRepeatable: true, help: "a tag of this worker, shown to others" },
  "--no-commands": "run no commands of schedules and their hooks",
  "--accept-role-bypass": "run them although etcd does not enforce roles, see docs/etcd.md",
  "--mask REGEX": {
    isRepeatable: true,
    help: "replace what matches in output that is logged or kept, before it is written",
  },
  "--metrics [HOST:]PORT": "serve metrics for Prometheus, and /healthz",
});

export type WorkerFlags = FlagsOf<typeof WORKER_FLAGS>;

export const worker = declareCommand({
  id: "worker",
  topic: "Run",
  brief: "run schedules when they are due",
  about: [
    "Claims occurrences of schedules when they are due, up to --concurrency at a time, and runs each with the first of its handlers" +
      " whose type matches. Start it on several hosts: one worker claims each occurrence, and another one if that worker dies.",
    "Without --handlers it runs schedules that have a command; with handlers, only with commands: true in the file. So everyone who is allowed to write schedules can run" +
      " commands as the worker's user; --no-commands, or commands: false in the file, prevents that." +
      " Of an etcd without users, that is everyone who can reach it. If etcd has users and does not enforce their roles (older than 3.4.42, 3.5.28" +
      " or 3.6.9), that is every user, and the worker refuses to start (78).",
    "After TERM, INT or QUIT it claims nothing more and ends when its tasks have ended; after a second one it ends them, and other workers run them. HUP and USR1 read" +
      " the file again; if the new one is wrong, the old one stays in use. USR2 reopens the log file." +
      " The default log level is info.",
  ],
  flags: WORKER_FLAGS,
  settings: [
    "host",
    "ttl",
    "terminationTimeout",
    "outputDirectory",
    "outputSize",
    "outputAge",
    "archiveFile",
    "archiveSize",
    "archiveCount",
    "retentionAge",
    "retentionCount",
    ...LOGGING_SETTINGS,
    ...CONNECTION_SETTINGS,
  ],
  examples: {
    "signalbox worker": "run schedules that have a command",
    "signalbox worker --handlers handlers.yaml --concurrency 8": "run handlers by type, eight at a time",
    "signalbox worker --handlers handlers.yaml --metrics :9464": "with metrics for Prometheus",
  },
  load: () => import("./worker.impl.ts"),
});
