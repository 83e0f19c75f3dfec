import { type ArgumentDetails, declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { JSON_FLAGS } from "../../frame/command-line/flags.ts";
import { parseTime } from "../../frame/command-line/instant.ts";
import { createCountParser } from "../../frame/command-line/values.ts";
import { SECONDS_FLAG, TIME_FLAGS } from "./times.ts";

const KEY: ArgumentDetails = { names: "schedule", help: "the schedule's id" };
const CRON_FLAGS = declareFlags({
  "--cron CRON": { isRepeatable: true, help: "a cron text instead of a schedule; works without etcd" },
  ...SECONDS_FLAG,
});
const ZONE_FLAGS = declareFlags({ "--timezone ZONE": "time zone of the cron text (default: UTC)" });

const scheduleGraph = declareCommand({
  id: "schedule graph",
  topic: "Schedule",
  brief: "show which schedules run after which",
  about: [
    "Prints a tree for each schedule that others follow (--after) and that follows none. A schedule that follows several appears below each of" +
      " them. With a KEY, prints only the schedules before and after it.",
  ],
  args: { "[KEY]": KEY },
  flags: JSON_FLAGS,
  examples: {
    "signalbox schedule graph": "all chains",
    "signalbox schedule graph load": "the chains of one schedule",
  },
  load: async () => (await import("./inspect.impl.ts")).showChains,
});

const SCHEDULE_NEXT_FLAGS = declareFlags({
  "--count NUMBER": {
    parse: createCountParser(1, 1_000),
    help: "number of runs to show (default: 10)",
  },
  "--from TIME": { parse: parseTime, help: "show runs from this time on (default: --start, or now)" },
  ...TIME_FLAGS,
  "--start TIME": { parse: parseTime, help: "with --rrule or --after-end: where the times begin" },
  ...ZONE_FLAGS,
  "--json": "as JSON",
});

export type ScheduleNextFlags = FlagsOf<typeof SCHEDULE_NEXT_FLAGS>;

const scheduleNext = declareCommand({
  id: "schedule next",
  topic: "Schedule",
  brief: "show when a schedule is due next, with clock changes marked",
  about: [
    "If a clock change skips or repeats the time of an occurrence, it is marked with gap or overlap, and with what happens to it.",
    "A time without an offset is in the schedule's time zone. The flags for times are those of schedule add, in place of KEY, and work without etcd.",
  ],
  args: { "[KEY|CRON]": { names: "schedule", help: "a schedule's id, or a cron text in one argument" } },
  flags: SCHEDULE_NEXT_FLAGS,
  examples: {
    "signalbox schedule next backup --count 3": "the next three runs",
    "signalbox schedule next '30 2 * * *' --timezone Europe/Berlin --from 2027-03-27":
      "what happens at the change to summer time?",
    "signalbox schedule next --rrule 'FREQ=MONTHLY;BYDAY=-1FR' --start 2026-11-30T09:00":
      "on the last Friday of each month",
  },
  load: async () => (await import("./inspect.impl.ts")).listNextRuns,
});

const SCHEDULE_EXPLAIN_FLAGS = declareFlags({ ...SECONDS_FLAG, ...ZONE_FLAGS, "--json": "as JSON" });

export type ScheduleExplainFlags = FlagsOf<typeof SCHEDULE_EXPLAIN_FLAGS>;

const scheduleExplain = declareCommand({
  id: "schedule explain",
  topic: "Schedule",
  brief: "explain in words when and how a schedule, or a cron text, fires",
  args: { "KEY|CRON": { names: "schedule", help: "a schedule's id, or a cron text in one argument" } },
  flags: SCHEDULE_EXPLAIN_FLAGS,
  examples: {
    "signalbox schedule explain '*/20 6-18 * * mon-fri'": "explain a cron text",
    "signalbox schedule explain backup": "explain a schedule",
  },
  load: async () => (await import("./inspect.impl.ts")).explainSchedule,
});

const SCHEDULE_LINT_FLAGS = declareFlags({
  "--collisions": "report instead which schedules compete for the same minutes, leases or locks",
  "--within DURATION": "with --collisions: how far to look ahead, at most 31d (default: 24h)",
  ...CRON_FLAGS,
  ...ZONE_FLAGS,
  "--json": "as JSON",
});

export type ScheduleLintFlags = FlagsOf<typeof SCHEDULE_LINT_FLAGS>;

const scheduleLint = declareCommand({
  id: "schedule lint",
  topic: "Schedule",
  brief: "report likely mistakes in schedules, or which of them compete",
  about: [
    "Without a KEY, checks all schedules. A cron text may stand in place of KEY. The exit code is 1 if there are errors; warnings and hints do not change it.",
    "With --collisions, lists what will collide: schedules that start in the same minute; resources with fewer units than the runs need" +
      " together; and runs that usually last until another run with the same lock (`signalbox run --lock` in the command), or of the same" +
      " schedule, is to start.",
    "The usual duration is the median of the recorded runs. A run without a record counts as one minute for leases. Leases with" +
      " macros differ between hosts and are left out. Prints the commands that would spread the schedules, and changes nothing.",
  ],
  args: { "[KEY...]": KEY },
  flags: SCHEDULE_LINT_FLAGS,
  examples: {
    "signalbox schedule lint": "check all schedules",
    "signalbox schedule lint '0 2 30 2 *'": "check a cron text before you use it",
    "signalbox schedule lint --collisions": "what competes in the next 24 hours?",
    "signalbox schedule lint --collisions backup": "with what does this schedule compete?",
    "signalbox schedule lint --collisions --within 7d --json | jq -r '.suggestions[].command'":
      "commands for a week",
  },
  load: async () => (await import("./lint.impl.ts")).lintSchedules,
});

const scheduleDead = declareCommand({
  id: "schedule dead",
  topic: "Schedule",
  brief: "list dead letters: occurrences that were given up",
  about: [
    "A dead letter has failed more often than --retries allows. `schedule trigger KEY --dead TIME` runs it again, `schedule bury KEY` deletes them, or with --dead only some.",
  ],
  args: { "[KEY]": KEY },
  flags: JSON_FLAGS,
  examples: { "signalbox schedule dead": "which occurrences need attention?" },
  load: async () => (await import("./inspect.impl.ts")).printDeadLetters,
});

export const SCHEDULE_INSPECTIONS = [
  scheduleNext,
  scheduleDead,
  scheduleGraph,
  scheduleExplain,
  scheduleLint,
] as const;
