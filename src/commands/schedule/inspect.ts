import { JSON_FLAGS } from "../command-line/flags.ts";
import { type ArgumentDetails, declareCommand, type FlagsOf, type FlagTable } from "../spec.ts";

const KEY: ArgumentDetails = { names: "schedule", help: "the schedule's id" };
const CRON = { "--cron CRON": "a cron text instead of a schedule; works without etcd" } satisfies FlagTable;
const ZONE = { "--timezone ZONE": "time zone of the cron text (default: UTC)" } satisfies FlagTable;

const SCHEDULE_LIST_FLAGS = {
  "--tag TAG": { isRepeatable: true, help: "only schedules with this tag, or all of several" },
  "--json": "as JSON",
} satisfies FlagTable;

/** Values of these flags. */
export type ScheduleListFlags = FlagsOf<typeof SCHEDULE_LIST_FLAGS>;

export const scheduleList = declareCommand({
  id: "schedule list",
  topic: "Schedule",
  brief: "list schedules in a table",
  about: ["`signalbox ls schedules` shows more: who runs them and their results, with filters."],
  flags: SCHEDULE_LIST_FLAGS,
  examples: {
    "signalbox schedule list": "all schedules, with their next times",
    "signalbox schedule list --tag team=billing": "those of a team",
  },
  load: async () => (await import("./inspect.impl.ts")).listSchedules,
});

export const scheduleShow = declareCommand({
  id: "schedule show",
  topic: "Schedule",
  brief: "show a schedule: its definition, its next runs and its last results",
  about: ["The same as `signalbox show schedule KEY`."],
  args: { KEY },
  flags: JSON_FLAGS,
  examples: { "signalbox schedule show backup": "all details" },
  load: async () => (await import("./inspect.impl.ts")).showSchedule,
});

export const scheduleGraph = declareCommand({
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

const SCHEDULE_NEXT_FLAGS = {
  "--count NUMBER": "number of runs to show (default: 10)",
  "--from TIME": "show runs from this time on (default: now)",
  ...CRON,
  ...ZONE,
  "--json": "as JSON",
} satisfies FlagTable;

/** Values of these flags. */
export type ScheduleNextFlags = FlagsOf<typeof SCHEDULE_NEXT_FLAGS>;

export const scheduleNext = declareCommand({
  id: "schedule next",
  topic: "Schedule",
  brief: "show when a schedule is due next, with clock changes marked",
  about: [
    "If a clock change skips or repeats the time of an occurrence, it is marked with gap or overlap, and with what happens to it.",
    "A time without an offset is in the schedule's time zone.",
  ],
  args: { "[KEY|CRON]": { names: "schedule", help: "a schedule's id, or a cron text in one argument" } },
  flags: SCHEDULE_NEXT_FLAGS,
  examples: {
    "signalbox schedule next backup --count 3": "the next three runs",
    "signalbox schedule next '30 2 * * *' --timezone Europe/Berlin --from 2027-03-27":
      "what happens at the change to summer time?",
  },
  load: async () => (await import("./inspect.impl.ts")).listNextRuns,
});

const SCHEDULE_EXPLAIN_FLAGS = { ...ZONE, "--json": "as JSON" } satisfies FlagTable;

/** Values of these flags. */
export type ScheduleExplainFlags = FlagsOf<typeof SCHEDULE_EXPLAIN_FLAGS>;

export const scheduleExplain = declareCommand({
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

const SCHEDULE_LINT_FLAGS = { ...CRON, ...ZONE, "--json": "as JSON" } satisfies FlagTable;

/** Values of these flags. */
export type ScheduleLintFlags = FlagsOf<typeof SCHEDULE_LINT_FLAGS>;

export const scheduleLint = declareCommand({
  id: "schedule lint",
  topic: "Schedule",
  brief: "report likely mistakes in schedules",
  about: [
    "Without a KEY, checks all schedules. A cron text may stand in place of KEY. The exit code is 1 if there are errors; warnings and hints do not change it.",
  ],
  args: { "[KEY...]": KEY },
  flags: SCHEDULE_LINT_FLAGS,
  examples: {
    "signalbox schedule lint": "check all schedules",
    "signalbox schedule lint '0 2 30 2 *'": "check a cron text before you use it",
  },
  load: async () => (await import("./lint.impl.ts")).lintSchedules,
});

export const scheduleDead = declareCommand({
  id: "schedule dead",
  topic: "Schedule",
  brief: "list dead letters: occurrences that were given up",
  about: [
    "A dead letter has failed more often than --retries allows. `schedule trigger KEY --dead TIME` runs it again, `schedule bury KEY` deletes them.",
  ],
  args: { "[KEY]": KEY },
  flags: JSON_FLAGS,
  examples: { "signalbox schedule dead": "which occurrences need attention?" },
  load: async () => (await import("./inspect.impl.ts")).listDeadLetters,
});
