import { type Argument, CONNECTION_SETTINGS, type Command, type Flag } from "../../spec.ts";
import { CHECK_FLAGS } from "../findings.ts";

const FLAGS: readonly Flag[] = [
  {
    name: "within",
    value: "DURATION",
    help: "how long ago it may have succeeded (default 25h, for daily jobs)",
  },
  ...CHECK_FLAGS,
];
const CODES =
  "The exit code is 0 where each succeeded in time, 1 where the last run of one failed since, 2 where one has not succeeded in" +
  " time, 69 where etcd could not be asked.";

export const checkLock: Command = {
  id: "check lock",
  topic: "Check",
  brief: "check that the job of a lock has succeeded lately",
  about: [
    "Reads the history of the lock, in which every host remembers how its runs ended. A run counts as a success when its" +
      " command exited with 0. Runs with --no-history are not remembered.",
    CODES,
  ],
  args: [buildNameArgument("lock", "LOCK", "locks to check")],
  flags: FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox check lock backup --within 25h", "did last night's backup run, and succeed?"],
    ["signalbox check lock backup invoices --within 2d --nagios", "two of them, for monitoring"],
  ],
  load: () => import("./check-lock.impl.ts"),
};

export const checkSchedule: Command = {
  id: "check schedule",
  topic: "Check",
  brief: "check that a schedule has succeeded lately",
  about: ["Reads the outcomes that the schedule remembers. Only the result ok counts as a success.", CODES],
  args: [buildNameArgument("schedule", "ID", "schedules to check")],
  flags: FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox check schedule report --within 25h", "did the daily report succeed?"],
    ["signalbox check schedule report --nagios", "for monitoring"],
  ],
  load: () => import("./check-schedule.impl.ts"),
};

function buildNameArgument(kind: "lock" | "schedule", name: string, help: string): Argument {
  return { name, names: kind, isRest: true, help };
}
