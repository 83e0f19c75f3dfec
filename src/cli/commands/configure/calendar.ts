import { type ArgumentDetails, declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { ACTION_FLAGS, JSON_FLAGS } from "../../frame/command-line/flags.ts";

const NAME: ArgumentDetails = { names: "calendar", help: "name of the calendar" };

const EFFECT =
  "The next occurrences of schedules that use the calendar move in the same transaction. If any moves, the command shows them" +
  " and asks; use --yes in scripts.";

const CALENDAR_ADD_FLAGS = declareFlags({
  "--replace": "replace the days of the calendar instead of adding to them",
  "--note TEXT": { canClear: true, help: "a note, shown to others" },
  ...ACTION_FLAGS,
});

export type CalendarAddFlags = FlagsOf<typeof CALENDAR_ADD_FLAGS>;

const calendarAdd = declareCommand({
  id: "calendar add",
  topic: "Schedule",
  brief: "create a calendar of days, or add days to it",
  about: [
    "Schedules name calendars with --except (days on which they do not fire) and --only (the only days on which they fire).",
    "A DAY is a date 2026-12-25, a date of each year 12-25, a range 2026-12-24..2027-01-01, or weekdays such as sat,sun.",
    EFFECT,
  ],
  args: { NAME, "DAY...": "days to add" },
  flags: CALENDAR_ADD_FLAGS,
  examples: {
    "signalbox calendar add holidays 12-25 12-26 01-01 2027-03-26": "dates of each year, and one date",
    "signalbox calendar add weekend sat,sun": "weekdays",
    "signalbox calendar add holidays 2026-12-24..2027-01-03 --dry-run": "which schedules would move?",
  },
  load: async () => (await import("./calendar.impl.ts")).addDays,
});

const CALENDAR_IMPORT_FLAGS = declareFlags({
  "--until DATE": "last day of events that repeat (default: the end of the fifth year from now)",
  "--note TEXT": { canClear: true, help: "a note, shown to others" },
  ...ACTION_FLAGS,
});

export type CalendarImportFlags = FlagsOf<typeof CALENDAR_IMPORT_FLAGS>;

const calendarImport = declareCommand({
  id: "calendar import",
  topic: "Schedule",
  brief: "set the days of a calendar from an iCalendar file",
  about: [
    "Every day on which an event takes place is a day of the calendar, on the wall clock of the event. A yearly event without an" +
      " end becomes a date of each year; the days of other events that repeat are added up to --until. The days of the file" +
      " replace those of the calendar, so a second import of the same file changes nothing. Cancelled events do not count.",
    EFFECT,
  ],
  args: { NAME, FILE: "the file (.ics); - for standard input" },
  flags: CALENDAR_IMPORT_FLAGS,
  examples: {
    "signalbox calendar import holidays holidays.ics --dry-run": "what would change?",
    "cat *.ics | signalbox calendar import holidays - --yes": "in a script",
  },
  load: async () => (await import("./calendar.impl.ts")).importCalendarDays,
});

const calendarShow = declareCommand({
  id: "calendar show",
  topic: "Schedule",
  brief: "show the days of a calendar, and the schedules that use it",
  args: { NAME },
  flags: JSON_FLAGS,
  examples: { "signalbox calendar show holidays": "which days?" },
  load: async () => (await import("./calendar.impl.ts")).showCalendar,
});

const calendarList = declareCommand({
  id: "calendar list",
  topic: "Schedule",
  brief: "list calendars",
  flags: JSON_FLAGS,
  examples: { "signalbox calendar list": "all calendars" },
  load: async () => (await import("./calendar.impl.ts")).listCalendars,
});

const calendarDelete = declareCommand({
  id: "calendar delete",
  topic: "Schedule",
  brief: "delete a calendar that no schedule uses",
  about: ["If a schedule uses it, nothing is changed (exit 64)."],
  args: { NAME },
  flags: ACTION_FLAGS,
  examples: { "signalbox calendar delete holidays --yes": "in a script" },
  load: async () => (await import("./calendar.impl.ts")).deleteCalendar,
});

export const CALENDAR_COMMANDS = [
  calendarAdd,
  calendarImport,
  calendarShow,
  calendarList,
  calendarDelete,
] as const;
