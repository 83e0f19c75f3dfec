import { UsageError } from "../../../core/base/errors.ts";
import {
  type ArgumentDetails,
  declareCommand,
  declareFlags,
  declareRowCommand,
  type FlagsOf,
} from "../../frame/command.ts";
import { ACTION_FLAGS } from "../../frame/command-line/flags.ts";
import { parseEndTime, parseTime, type WrittenTime } from "../../frame/command-line/instant.ts";
import { createCountParser } from "../../frame/command-line/values.ts";
import { DEFINITION_FLAGS, parseDataJson, parseVariable, START_FLAGS } from "./definition-flags.ts";
import { TIME_FLAGS } from "./times.ts";

const KEY: ArgumentDetails = { names: "schedule", help: "the schedule's id" };
const KEYS: ArgumentDetails = { names: "schedule", help: "ids of schedules" };

const TIMES =
  "Times are ISO 8601 (without an offset, in the schedule's time zone), seconds since the epoch, now, or +2h.";

const UTC_TIMES = "Times are ISO 8601 (without an offset, in UTC), seconds since the epoch, or +2h.";

const SCHEDULE_ADD_FLAGS = declareFlags({
  ...TIME_FLAGS,
  ...START_FLAGS,
  "--paused": "create it paused; it does not fire until it is resumed",
  ...DEFINITION_FLAGS,
  ...ACTION_FLAGS,
});

export type ScheduleAddFlags = FlagsOf<typeof SCHEDULE_ADD_FLAGS>;

export const scheduleAdd = declareCommand({
  id: "schedule add",
  topic: "Schedule",
  brief: "add a schedule: what to run, and when",
  about: [
    "TYPE selects a handler of the workers; with - the KEY up to its first dot is the type. With a command" +
      " after --, no handler is needed: KEY CRON -- COMMAND is enough. A command gets no shell; write sh -c '…' for one.",
    "CRON has five fields, or is a macro such as @daily. `signalbox schedule explain` explains it, and `schedule" +
      " lint` reports likely mistakes. If the id exists already, nothing is changed (exit 1).",
    "With --cron, --rrule or --after-end, CRON can be left out, or is one more time. With --after, it can be left out: the schedule then runs only after those schedules. @manual as CRON means that it runs" +
      " only when it is triggered, `@at 2026-12-24T18:00Z` once, `@every 90m` at a fixed rate from --start or now, and @reboot, with --on every-host, once for each boot of each host; see also `signalbox schedule at`.",
    TIMES,
  ],
  args: {
    KEY: "the id of the new schedule",
    "[TYPE]": "selects the handler; left out with a command",
    "[CRON]": 'five fields in one argument, such as "30 2 * * *"',
    "[DATA]": "JSON for the handler",
  },
  takesCommand: "optional",
  flags: SCHEDULE_ADD_FLAGS,
  examples: {
    "signalbox schedule add backup '0 3 * * *' --timezone Europe/Berlin -- db-dump --all":
      "run a command every night",
    'signalbox schedule add report.weekly report @weekly \'{"to": "ops"}\' --retries 3': "run a handler",
    "signalbox schedule add load --after extract -- load-tables": "run it whenever extract has succeeded",
    "signalbox schedule add warm-cache '@hourly' --on every-host --group web -- /opt/warm-cache.sh":
      "run it on each host of a group",
    "signalbox schedule add pay --rrule 'FREQ=WEEKLY;INTERVAL=2' --start 2026-11-30T09:00 -- /opt/pay":
      "run it at 09:00 every second Monday",
    "signalbox schedule add sync --after-end 5m -- /opt/sync.sh": "run it five minutes after its last end",
    "signalbox schedule add poll - '*/5 * * * *' --jitter 2m --catchup latest":
      "run the handler for type poll",
  },
  load: async () => (await import("./change.impl.ts")).addRecurring,
});

/** Flags of schedules that are due once: without those about repeated times. */
const { "--end TIME": _end, "--jitter DURATION": _jitter, ...ONCE_FLAGS } = DEFINITION_FLAGS;

const SCHEDULE_AT_FLAGS = declareFlags({
  "--id KEY": "the id of the new schedule (default: at- and the time)",
  ...ONCE_FLAGS,
  ...ACTION_FLAGS,
});

export type ScheduleAtFlags = FlagsOf<typeof SCHEDULE_AT_FLAGS>;

const scheduleAt = declareCommand({
  id: "schedule at",
  topic: "Schedule",
  brief: "run something once, at a given time",
  about: [
    "Adds a schedule that is due once. If no worker is running then, it runs as soon as one is, or not after --deadline. Afterwards" +
      " it is kept with its result until `signalbox schedule delete`.",
    "WHEN is ISO 8601 (without an offset, in --timezone), seconds since the epoch, or +2h.",
  ],
  args: {
    WHEN: "when to run it",
    "[TYPE]": "selects the handler; left out with a command",
    "[DATA]": "JSON for the handler",
  },
  takesCommand: "optional",
  flags: SCHEDULE_AT_FLAGS,
  examples: {
    "signalbox schedule at 2026-12-24T18:00 --timezone Europe/Berlin -- close-shop": "once, on Christmas Eve",
    "signalbox schedule at +2h --id restart-cache --lease db=1 -- restart-cache":
      "in two hours, holding a unit of db",
  },
  load: async () => (await import("./change.impl.ts")).scheduleOnce,
});

const SCHEDULE_EDIT_FLAGS = declareFlags({
  ...TIME_FLAGS,
  "--type TYPE": { canClear: true, help: "selects the handler" },
  ...START_FLAGS,
  ...DEFINITION_FLAGS,
  ...ACTION_FLAGS,
});

export type ScheduleEditFlags = FlagsOf<typeof SCHEDULE_EDIT_FLAGS>;

export const scheduleEdit = declareCommand({
  id: "schedule edit",
  topic: "Schedule",
  brief: "change a schedule, by flags or in your editor",
  about: [
    "Fields that are not given stay unchanged; an empty value removes a field. A new cron text or zone applies from now on, but an" +
      " occurrence that is already due is kept. Without flags, the definition is opened as JSON in $VISUAL, $EDITOR or vi.",
    TIMES,
  ],
  args: { KEY },
  takesCommand: "optional",
  flags: SCHEDULE_EDIT_FLAGS,
  examples: {
    "signalbox schedule edit backup --cron '30 4 * * *'": "another time",
    "signalbox schedule edit backup --timeout '' --retries 2": "no time limit, and two retries",
    "signalbox schedule edit backup": "in your editor",
  },
  load: async () => (await import("./change.impl.ts")).editSchedule,
});

const SCHEDULE_DELETE_FLAGS = declareFlags({
  "--host HOST": {
    names: "host",
    help: "delete only the state and the history of this host, in schedules that run on every host",
  },
  ...ACTION_FLAGS,
});

export type ScheduleDeleteFlags = FlagsOf<typeof SCHEDULE_DELETE_FLAGS>;

const scheduleDelete = declareCommand({
  id: "schedule delete",
  topic: "Schedule",
  brief: "delete schedules and their history",
  about: [
    "Running commands continue. If one of the schedules does not exist, none is deleted (exit 1).",
    "With --host, the schedules stay, and a host that is gone for good no longer counts in listings. A worker that is still there" +
      " begins again with the next occurrence.",
  ],
  args: { "KEY...": KEYS },
  flags: SCHEDULE_DELETE_FLAGS,
  examples: {
    "signalbox schedule delete backup report.weekly --dry-run": "what would be deleted?",
    "signalbox schedule delete warm-cache --host web4.example.com": "the host is gone for good",
  },
  load: async () => (await import("./change.impl.ts")).deleteSchedules,
});

const SCHEDULE_PAUSE_FLAGS = declareFlags({
  "--until TIME": { parse: parseTime, help: "resume automatically at this time" },
  ...ACTION_FLAGS,
});

export type SchedulePauseFlags = FlagsOf<typeof SCHEDULE_PAUSE_FLAGS>;

const schedulePause = declareRowCommand({
  id: "schedule pause",
  topic: "Schedule",
  rows: { key: "P", kinds: ["schedule"], refusal: "schedule pause applies only to schedules" },
  brief: "stop schedules from firing until they are resumed",
  about: [
    "Running commands continue, and `schedule trigger` still works. Occurrences during the pause are skipped: they are not made up" +
      " for after `schedule resume` or --until. What is due once (`schedule at`, jobs) runs then.",
    UTC_TIMES,
  ],
  args: { "KEY...": KEYS },
  flags: SCHEDULE_PAUSE_FLAGS,
  examples: {
    "signalbox schedule pause backup --until +8h --reason 'the disk is full'":
      "for eight hours, with a reason",
  },
  load: async () => (await import("./change.impl.ts")).pauseSchedules,
});

const scheduleResume = declareRowCommand({
  id: "schedule resume",
  topic: "Schedule",
  rows: { key: "C", kinds: ["schedule"], refusal: "schedule resume applies only to schedules" },
  brief: "let paused schedules fire again, from now on",
  args: { "KEY...": KEYS },
  flags: ACTION_FLAGS,
  examples: { "signalbox schedule resume backup": "fire again" },
  load: async () => (await import("./change.impl.ts")).resumeSchedules,
});

/** Parses the scheduled time of a dead letter, or `all`. An empty text would mean others than those that are wanted. */
function parseDeadTime(text: string, flag: string): WrittenTime | "all" {
  const time = text === "all" ? text : parseTime(text, flag);
  if (time === undefined) throw new UsageError(`${flag} must be a time or all; got an empty text`);
  return time;
}

const SCHEDULE_TRIGGER_FLAGS = declareFlags({
  "--dead TIME": {
    isRepeatable: true,
    parse: parseDeadTime,
    help: "the scheduled time of a dead letter, or `all`; it is removed from the list, and runs again",
  },
  "--data JSON": {
    parse: parseDataJson,
    help: "data for the handler in this run, instead of the schedule's",
  },
  "--env NAME=VALUE": {
    isRepeatable: true,
    parse: parseVariable,
    help: "an environment variable of the command in this run, in addition to the schedule's",
  },
  "--ignore-calendar": "also on a day that the schedule's calendars exclude",
  ...ACTION_FLAGS,
});

export type ScheduleTriggerFlags = FlagsOf<typeof SCHEDULE_TRIGGER_FLAGS>;

const scheduleTrigger = declareRowCommand({
  id: "schedule trigger",
  topic: "Schedule",
  rows: { key: "N", kinds: ["schedule"], refusal: "schedule trigger applies only to schedules" },
  brief: "run schedules once, now, in addition to their times",
  about: [
    "Paused schedules run too. On a day that its calendars exclude, a schedule is not triggered, unless by --dead or with --ignore-calendar. A run that is retried, or run again by --dead, keeps its --data and --env. --dead runs an occurrence that was given up again, with its scheduled time; `signalbox" +
      " schedule dead` lists these occurrences.",
  ],
  args: { "KEY...": KEYS },
  flags: SCHEDULE_TRIGGER_FLAGS,
  examples: {
    "signalbox schedule trigger backup": "run it now",
    'signalbox schedule trigger report --data \'{"day": "2026-11-21"}\' --env DRY_RUN=1':
      "run it with other input",
    "signalbox schedule trigger backup --dead '2026-11-21 03:00:00Z'": "run a dead letter again",
    "signalbox schedule trigger backup --dead all": "run all dead letters again",
    "signalbox schedule trigger report --ignore-calendar": "run it on a holiday",
  },
  load: async () => (await import("./change.impl.ts")).triggerSchedules,
});

const SCHEDULE_BACKFILL_FLAGS = declareFlags({
  "--from TIME": { parse: parseTime, help: "the first time" },
  "--to TIME": { parse: parseEndTime, help: "the last time (default: now)" },
  "--parallel N": {
    parse: createCountParser(1),
    help: "how many at a time, with --overlap allow (default: 1)",
  },
  "--cancel": "start no more of them",
  "--watch": "print the progress until the end",
  ...ACTION_FLAGS,
});

export type ScheduleBackfillFlags = FlagsOf<typeof SCHEDULE_BACKFILL_FLAGS>;

const scheduleBackfill = declareCommand({
  id: "schedule backfill",
  topic: "Schedule",
  brief: "run the occurrences of a past time",
  about: [
    "Runs every occurrence from --from to --to, the oldest first, with its scheduled time, beside what is due now, which comes first. The workers" +
      " continue by themselves if one of them dies; a pause of the schedule stops them. Without --from, shows the progress.",
    TIMES,
  ],
  args: { KEY },
  flags: SCHEDULE_BACKFILL_FLAGS,
  examples: {
    "signalbox schedule backfill report --from 2026-11-01 --to 2026-11-20": "make up for three weeks",
    "signalbox schedule backfill report --watch": "how far is it?",
    "signalbox schedule backfill report --cancel": "stop it",
  },
  load: async () => (await import("./change.impl.ts")).backfillSchedule,
});

const scheduleCancel = declareCommand({
  id: "schedule cancel",
  topic: "Schedule",
  brief: "end what runs of schedules, and drop what waits for a start",
  about: [
    "The worker ends the task (TERM for a command, the `signal` of a function), whose outcome `canceled` says who has canceled it, and why. What waits for a retry, or was triggered, is" +
      " dropped. What is due once (`schedule at`, jobs) does not run any more, and a job is removed. Other schedules go on with their next time; to stop that too, pause or delete them.",
    "It returns when the worker is asked. A task that has not ended is shown by `signalbox show schedule`.",
  ],
  args: { "KEY...": KEYS },
  flags: ACTION_FLAGS,
  examples: {
    "signalbox schedule cancel resize.a --reason 'wrong file'": "end a job, and do not start it again",
  },
  load: async () => (await import("./change.impl.ts")).cancelSchedules,
});

const SCHEDULE_MOVE_FLAGS = declareFlags({
  "--to TIME": { parse: parseTime, help: "the time (default: now)" },
  ...ACTION_FLAGS,
});

export type ScheduleMoveFlags = FlagsOf<typeof SCHEDULE_MOVE_FLAGS>;

const scheduleMove = declareCommand({
  id: "schedule move",
  topic: "Schedule",
  brief: "start what waits at another time: jobs, and retries",
  about: [
    "Moves what is due once (`schedule at`, jobs) and waits for its time, and what waits for a retry. What runs is not touched (exit 64)." +
      " The times of a cron text stay; to run a schedule now in addition: `signalbox schedule trigger`.",
    UTC_TIMES,
  ],
  args: { "KEY...": KEYS },
  flags: SCHEDULE_MOVE_FLAGS,
  examples: {
    "signalbox schedule move resize.a": "run a job, or its retry, now",
    "signalbox schedule move resize.a --to +2h": "in two hours",
  },
  load: async () => (await import("./change.impl.ts")).moveSchedules,
});

const SCHEDULE_BURY_FLAGS = declareFlags({
  "--dead TIME": {
    isRepeatable: true,
    parse: parseDeadTime,
    help: "the scheduled time of a dead letter, or `all` (default: all)",
  },
  ...ACTION_FLAGS,
});

export type ScheduleBuryFlags = FlagsOf<typeof SCHEDULE_BURY_FLAGS>;

const scheduleBury = declareCommand({
  id: "schedule bury",
  topic: "Schedule",
  brief: "delete dead letters of schedules",
  about: ["They are removed from the list of `signalbox schedule dead`, and do not run again."],
  args: { "KEY...": KEYS },
  flags: SCHEDULE_BURY_FLAGS,
  examples: { "signalbox schedule bury backup --reason 'made up for by hand'": "delete its dead letters" },
  load: async () => (await import("./change.impl.ts")).buryDeadLetters,
});

export const SCHEDULE_CHANGES = [
  scheduleAdd,
  scheduleAt,
  scheduleEdit,
  scheduleDelete,
  schedulePause,
  scheduleResume,
  scheduleTrigger,
  scheduleBackfill,
  scheduleCancel,
  scheduleMove,
  scheduleBury,
] as const;
