import { type Argument, CONNECTION_SETTINGS, type Command, type Flag } from "../../spec.ts";

const KEY: Argument = { name: "KEY", names: "schedule", help: "the schedule's id" };
const JSON_FLAG: Flag = { name: "json", help: "as JSON" };
const CRON: Flag = {
  name: "cron",
  value: "CRON",
  help: "a cron text instead of a schedule; etcd is not asked",
};
const ZONE: Flag = {
  name: "timezone",
  value: "ZONE",
  help: "whose clock the cron text means (default: UTC)",
};

export const scheduleList: Command = {
  id: "schedule list",
  topic: "Schedule",
  brief: "list schedules in a table",
  about: ["`signalbox ls schedules` knows more: who runs them, how they went, and filters."],
  flags: [JSON_FLAG],
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox schedule list", "all of them, with their next times"]],
  load: () => import("./list.impl.ts"),
};

export const scheduleShow: Command = {
  id: "schedule show",
  topic: "Schedule",
  brief: "show a schedule: what it is, its next runs, and how the last ones went",
  about: ["The same as `signalbox show schedule KEY`."],
  args: [KEY],
  flags: [JSON_FLAG],
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox schedule show backup", "all there is about it"]],
  load: () => import("./show.impl.ts"),
};

export const scheduleNext: Command = {
  id: "schedule next",
  topic: "Schedule",
  brief: "show when a schedule is due next, with clock changes marked",
  about: [
    "An occurrence whose time a clock change skips or repeats is marked with gap or overlap, and what becomes of it.",
    "A time without an offset is one of the schedule's zone.",
  ],
  args: [
    {
      name: "KEY|CRON",
      names: "schedule",
      isOptional: true,
      help: "a schedule's id, or a cron text in one argument",
    },
  ],
  flags: [
    { name: "count", value: "NUMBER", help: "how many (default: 10)" },
    { name: "from", value: "TIME", help: "from then on instead of from now" },
    CRON,
    ZONE,
    JSON_FLAG,
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox schedule next backup --count 3", "the next three runs"],
    [
      "signalbox schedule next '30 2 * * *' --timezone Europe/Berlin --from 2027-03-27",
      "what does summer time do to it?",
    ],
  ],
  load: () => import("./next.impl.ts"),
};

export const scheduleExplain: Command = {
  id: "schedule explain",
  topic: "Schedule",
  brief: "say in words when and how a schedule, or a cron text, fires",
  args: [{ name: "KEY|CRON", names: "schedule", help: "a schedule's id, or a cron text in one argument" }],
  flags: [ZONE, JSON_FLAG],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox schedule explain '*/20 6-18 * * mon-fri'", "what does this mean?"],
    ["signalbox schedule explain backup", "and this one?"],
  ],
  load: () => import("./explain.impl.ts"),
};

export const scheduleLint: Command = {
  id: "schedule lint",
  topic: "Schedule",
  brief: "say what may be wrong with schedules, and why",
  about: ["Without a KEY, all schedules. Errors end it with 1; warnings and hints do not."],
  args: [{ ...KEY, isRest: true, isOptional: true }],
  flags: [CRON, ZONE, JSON_FLAG],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox schedule lint", "all of them"],
    ["signalbox schedule lint --cron '0 2 30 2 *'", "a text before it is used"],
  ],
  load: () => import("./lint.impl.ts"),
};

export const scheduleDead: Command = {
  id: "schedule dead",
  topic: "Schedule",
  brief: "list dead letters: occurrences that were given up",
  about: [
    "One that failed more often than its --retries allow. `schedule trigger KEY --dead TIME` runs it again, `schedule bury KEY` forgets them.",
  ],
  args: [{ ...KEY, isOptional: true }],
  flags: [JSON_FLAG],
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox schedule dead", "what has to be looked after?"]],
  load: () => import("./dead.impl.ts"),
};
