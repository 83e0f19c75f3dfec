import { ACTION_FLAGS } from "../../command-line/flags.ts";
import { type Argument, CONNECTION_SETTINGS, type Command, type Flag } from "../../spec.ts";
import { DEFINITION_FLAGS, START_FLAGS } from "./definition-flags.ts";

const KEY: Argument = { name: "KEY", names: "schedule", help: "the schedule's id" };
const KEYS: Argument = { name: "KEY", names: "schedule", isRest: true, help: "ids of schedules" };

export const TIMES =
  "Times are ISO 8601, where one without an offset is a time of the schedule's zone; seconds since the epoch; now; or +2h.";

const PAUSED: Flag = { name: "paused", help: "it waits until it is resumed" };

export const scheduleAdd: Command = {
  id: "schedule add",
  topic: "Schedule",
  brief: "add a schedule: a command or handler, and its times",
  about: [
    "TYPE chooses the handler that workers have; - is none, and then the KEY up to its first dot does. With a command" +
      " after --, no handler is needed: KEY CRON -- COMMAND is enough. A command gets no shell; write sh -c '…' for one.",
    "CRON has five fields, or is a macro such as @daily; `signalbox schedule explain` says what one means, and `schedule" +
      " lint` what may be wrong with it. An id that is taken already is refused (exit 1).",
    TIMES,
  ],
  args: [
    { name: "KEY", help: "its id" },
    { name: "TYPE", help: "what chooses the handler; left out where a command follows" },
    { name: "CRON", isOptional: true, help: 'five fields in one argument, such as "30 2 * * *"' },
    { name: "DATA", isOptional: true, help: "JSON that the handler gets" },
  ],
  takesCommand: "optional",
  flags: [...START_FLAGS, PAUSED, ...DEFINITION_FLAGS, ...ACTION_FLAGS],
  settings: CONNECTION_SETTINGS,
  examples: [
    [
      "signalbox schedule add backup '0 3 * * *' --timezone Europe/Berlin -- db-dump --all",
      "run a command every night",
    ],
    [`signalbox schedule add report.weekly report @weekly '{"to": "ops"}' --retries 3`, "work for a handler"],
    ["signalbox schedule add poll - '*/5 * * * *' --jitter 2m --catchup latest", "the handler for type poll"],
  ],
  load: () => import("./add.impl.ts"),
};

export const scheduleEdit: Command = {
  id: "schedule edit",
  topic: "Schedule",
  brief: "change a schedule, by flags or in your editor",
  about: [
    "What is not given stays as it is; an empty value takes a field away. A new cron text or zone counts from now on, but an" +
      " occurrence that is due already is kept. Without any flag, the definition is opened as JSON in $VISUAL, $EDITOR or vi.",
    TIMES,
  ],
  args: [KEY],
  takesCommand: "optional",
  flags: [
    { name: "cron", value: "CRON", help: "when" },
    { name: "type", value: "TYPE", canClear: true, help: "what chooses the handler" },
    ...START_FLAGS,
    ...DEFINITION_FLAGS,
    ...ACTION_FLAGS,
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox schedule edit backup --cron '30 4 * * *'", "another time"],
    ["signalbox schedule edit backup --timeout '' --retries 2", "no time limit, and two more tries"],
    ["signalbox schedule edit backup", "in your editor"],
  ],
  load: () => import("./edit.impl.ts"),
};

export const scheduleDelete: Command = {
  id: "schedule delete",
  topic: "Schedule",
  brief: "delete schedules with all that is remembered of them",
  about: [
    "What runs goes on to its end. One that is not there is an error (exit 1), and then none is deleted.",
  ],
  args: [KEYS],
  flags: ACTION_FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox schedule delete backup report.weekly --dry-run", "what would be gone?"]],
  load: () => import("./delete.impl.ts"),
};

export const schedulePause: Command = {
  id: "schedule pause",
  topic: "Schedule",
  key: "P",
  brief: "let schedules fire no more, for a while",
  about: [
    "What runs goes on; `schedule trigger` still works. When the pause is ended, by `schedule resume` or its --until, what it" +
      " has stopped is not made up for.",
    "Times are ISO 8601, in UTC unless they say otherwise; seconds since the epoch; or +2h.",
  ],
  args: [KEYS],
  flags: [{ name: "until", value: "TIME", help: "they fire again by themselves then" }, ...ACTION_FLAGS],
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox schedule pause backup --until +8h --reason 'the disk is full'", "they see why"]],
  load: () => import("./pause.impl.ts"),
};

export const scheduleResume: Command = {
  id: "schedule resume",
  topic: "Schedule",
  key: "C",
  brief: "let paused schedules fire again, from now on",
  args: [KEYS],
  flags: ACTION_FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox schedule resume backup", "it goes on"]],
  load: () => import("./resume.impl.ts"),
};

export const scheduleTrigger: Command = {
  id: "schedule trigger",
  topic: "Schedule",
  key: "N",
  brief: "run schedules once, now, beside their plan",
  about: [
    "Also what is paused. --dead runs an occurrence again that was given up, with its own scheduled time; `signalbox" +
      " schedule dead` lists these.",
  ],
  args: [KEYS],
  flags: [
    {
      name: "dead",
      value: "TIME",
      help: "the scheduled time of a dead letter: it leaves the list, and runs again",
    },
    ...ACTION_FLAGS,
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox schedule trigger backup", "do not wait for the night"],
    ["signalbox schedule trigger backup --dead '2026-11-21 03:00:00Z'", "that one again"],
  ],
  load: () => import("./trigger.impl.ts"),
};

export const scheduleBury: Command = {
  id: "schedule bury",
  topic: "Schedule",
  brief: "forget dead letters of schedules",
  about: ["They leave the list of `signalbox schedule dead`, and do not run again."],
  args: [KEYS],
  flags: ACTION_FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox schedule bury backup --reason 'made up for by hand'", "it is settled"]],
  load: () => import("./bury.impl.ts"),
};
