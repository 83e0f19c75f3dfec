import { declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { CHECK_FLAGS } from "./findings.ts";

const CHECK_LOCK_FLAGS = declareFlags({
  "--all": "all locks with a history; without --within, only how the last run of each ended",
  "--within DURATION": "how long ago the last success may be (default: 25h, for daily jobs)",
  ...CHECK_FLAGS,
});

export type CheckLockFlags = FlagsOf<typeof CHECK_LOCK_FLAGS>;

const CODES =
  "The exit code is 0 if each succeeded in time, 1 if the last run of one has failed since, 2 if one has not succeeded in" +
  " time, 69 if etcd could not be read.";

const checkLock = declareCommand({
  id: "check lock",
  topic: "Check",
  brief: "check that the job of a lock has succeeded recently",
  about: [
    "Reads the history of the lock, which has the results of runs on all hosts. A run counts as a success when its" +
      " command exited with 0. Runs with --no-history are not recorded.",
    CODES,
  ],
  args: { "[LOCK...]": { names: "lock", help: "locks to check" } },
  flags: CHECK_LOCK_FLAGS,
  examples: {
    "signalbox check lock backup --within 25h": "did last night's backup succeed?",
    "signalbox check lock backup invoices --within 2d --nagios": "two locks, for monitoring",
  },
  load: async () => (await import("./check-recent.impl.ts")).checkLocks,
});

const CHECK_SCHEDULE_FLAGS = declareFlags({
  "--tag TAG": { isRepeatable: true, help: "schedules with this tag, or all of several" },
  ...CHECK_LOCK_FLAGS,
  "--all": "all schedules",
  "--expect":
    "also how long runs take: 2 if one takes longer than the --expect of its schedule, 1 if the last one did, or was too short",
});

export type CheckScheduleFlags = FlagsOf<typeof CHECK_SCHEDULE_FLAGS>;

const checkSchedule = declareCommand({
  id: "check schedule",
  topic: "Check",
  brief: "check that a schedule has succeeded recently",
  about: [
    "Reads the history of the schedule. Only the result ok counts as a success. --tag and --all leave out jobs, and schedules that an operator has" +
      " paused, or that only run when they are triggered or after others.",
    "What was due and skipped counts, if nothing has started since: 2 if nothing has ever succeeded, else 1.",
    "A schedule of @reboot is checked on each host: its last run must have succeeded, and must end within --within of the boot.",
    CODES,
  ],
  args: { "[ID...]": { names: "schedule", help: "schedules to check" } },
  flags: CHECK_SCHEDULE_FLAGS,
  examples: {
    "signalbox check schedule report --within 25h": "did the daily report succeed?",
    "signalbox check schedule report --expect": "does it run as long as expected?",
    "signalbox check schedule --tag team=web --nagios": "the schedules of a team, for monitoring",
  },
  load: async () => (await import("./check-recent.impl.ts")).checkSchedules,
});

export const RECENT_CHECKS = [checkLock, checkSchedule] as const;
