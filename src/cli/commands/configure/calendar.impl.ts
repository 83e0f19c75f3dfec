import { ConfigError, UsageError } from "../../../core/base/errors.ts";
import { clean, quoteText } from "../../../core/base/text.ts";
import { validateName } from "../../../core/protocol/names.ts";
import {
  type Calendar,
  findDayFault,
  normalizeDays,
  parseCalendarEntry,
  toDay,
} from "../../../schedule/calendar/calendar.ts";
import { NotFoundError } from "../../../schedule/errors.ts";
import { listUsers } from "../../../site/operate/calendar-changes.ts";
import { readAllStoredSchedules, type StoredCalendar } from "../../../site/operate/stored-schedules.ts";
import { createActionCommand } from "../../frame/action.ts";
import type { JsonFlags } from "../../frame/command-line/flags.ts";
import { readDocumentText } from "../../frame/documents.ts";
import { printResult } from "../../frame/json-output.ts";
import type { ActionOutcome, SiteResult } from "../../frame/outcome.ts";
import { createReadCommand } from "../../frame/read-snapshot.ts";
import type { ActionContext, CommandContext } from "../../frame/store-command.ts";
import { renderTextTable } from "../../frame/table.ts";
import type { CalendarAddFlags, CalendarImportFlags } from "./calendar.ts";
import { changeSite, readSite } from "./change-site.ts";

export const addDays = createActionCommand<CalendarAddFlags>(async (context) => {
  const { args, flags } = context;
  const [given = "", ...words] = args;
  const name = validateName("calendar", given);
  const days = words.flatMap((word) => word.split(",").map((day) => day.trim()));
  buildCalendar(days, context, undefined); // check them before anything is read
  return await changeCalendar(context, name, (before) => {
    const kept = flags.replace ? undefined : requireReadableCalendar(name, before);
    return buildCalendar([...(kept?.days ?? []), ...days], context, before);
  });
});

export const deleteCalendar = createActionCommand(async (context) => {
  const name = validateName("calendar", context.args[0] ?? "");
  return await changeCalendar(context, name, (before) => {
    if (before !== undefined) return undefined;
    throw new NotFoundError(`there is no calendar ${quoteText(name)}; see: signalbox calendar list`);
  });
});

/** Years for which events that repeat are added, beside the current one. */
const REPEATED_EVENT_YEARS = 5;

export const importCalendarDays = createActionCommand<CalendarImportFlags>(async (context) => {
  const [given = "", file = "-"] = context.args;
  const name = validateName("calendar", given);
  const span = parseSpan(context);
  const text = await readDocumentText(context.io, file);
  // `import` here, so that no other command loads the package.
  const { readICalendarDays } = await import("./read-icalendar.ts");
  const days = readICalendarDays(text, span);
  if (days.length === 0) throw new ConfigError(`${file} has no events`);
  return await changeCalendar(context, name, (before) => buildCalendar(days, context, before));
});

/** Returns the days for which events that repeat are added. Whole years, so that a second import changes nothing. */
function parseSpan({ flags: { until }, clock }: CommandContext<CalendarImportFlags>): {
  from: number;
  until: number;
} {
  const year = new Date(clock.getWallTime()).getUTCFullYear();
  const from = toDay(Date.UTC(year, 0));
  if (until === undefined) return { from, until: toDay(Date.UTC(year + REPEATED_EVENT_YEARS + 1, 0)) - 1 };
  const parsed = parseCalendarEntry(until);
  if ("fault" in parsed || parsed.value.kind !== "range" || parsed.value.from !== parsed.value.until)
    throw new UsageError(`--until must be a date such as 2030-12-31; got ${JSON.stringify(until)}`);
  return { from, until: parsed.value.until };
}

export const listCalendars = createReadCommand<JsonFlags>(async (context) => {
  const stored = await readAllStoredSchedules(context, context.signal);
  const rows = [...stored.calendars].map(([name, calendar]) =>
    toJson(name, calendar, listUsers(stored, name)),
  );
  printResult(context, { revision: stored.revision, rows }, () =>
    renderTextTable(
      ["CALENDAR", "ENTRIES", "SCHEDULES", "NOTE"],
      rows.map(({ calendar, days, schedules, note, fault }) => [
        calendar,
        days === null ? "?" : String(days.length),
        String(schedules.length),
        fault === undefined ? (note ?? "") : `cannot be read: ${fault}`,
      ]),
    ),
  );
});

export const showCalendar = createReadCommand<JsonFlags>(async (context) => {
  const name = validateName("calendar", context.args[0] ?? "");
  const stored = await readAllStoredSchedules(context, context.signal);
  const calendar = stored.calendars.get(name);
  if (calendar === undefined)
    throw new NotFoundError(`there is no calendar ${quoteText(name)}; see: signalbox calendar list`);
  const shown = toJson(name, calendar, listUsers(stored, name));
  const { days, note, fault, schedules } = shown;
  const lines = [
    ...(fault === undefined ? [] : [`it cannot be read, so the schedules that use it do not fire: ${fault}`]),
    ...(note === undefined ? [] : [`note: ${note}`]),
    ...(days ?? []),
    schedules.length === 0 ? "no schedule uses it" : `used by: ${schedules.join(", ")}`,
  ];
  printResult(context, { revision: stored.revision, ...shown }, () =>
    lines.map((line) => `${clean(line)}\n`).join(""),
  );
});

function toJson(name: string, stored: StoredCalendar, schedules: readonly string[]) {
  const { days, note } = "value" in stored ? stored.value : { days: null, note: undefined };
  return {
    calendar: name,
    days,
    modRevision: stored.mod,
    schedules,
    ...(note !== undefined && { note }),
    ...("fault" in stored && { fault: stored.fault }),
  };
}

/**
 * Changes a calendar, and the next occurrences of the schedules that use it.
 * @param updateCalendar  computes the new value; undefined deletes the calendar
 */
async function changeCalendar(
  context: ActionContext,
  name: string,
  updateCalendar: (before: StoredCalendar | undefined) => Calendar | undefined,
): Promise<ActionOutcome<SiteResult>> {
  const read = await readSite(context, new Set(["calendars"]));
  const calendar = updateCalendar(read.schedules.calendars.get(name));
  return await changeSite(
    context,
    {
      action: "calendar",
      target: `calendar ${name}`,
      document: { calendars: new Map([[name, calendar]]) },
      kinds: read.kinds,
      terms: { prunes: false, isSingle: true },
      nothing: `calendar ${quoteText(name)} is up to date`,
    },
    read,
  );
}

/** Builds the new value of a calendar. Without --note, the note stays. @throws UsageError for a day that is not valid */
function buildCalendar(
  days: readonly string[],
  { flags }: CommandContext<{ note?: string | null }>,
  before: StoredCalendar | undefined,
): Calendar {
  const normal = normalizeDays(days);
  const fault = findDayFault(normal);
  if (fault !== undefined) throw new UsageError(fault);
  const old = before !== undefined && "value" in before ? before.value.note : undefined;
  const { note = old } = flags;
  return { days: normal, ...(typeof note === "string" && { note }) };
}

/** Returns the stored calendar. @throws ConfigError if it cannot be read */
function requireReadableCalendar(name: string, before: StoredCalendar | undefined): Calendar | undefined {
  if (before === undefined || "value" in before) return before?.value;
  throw new ConfigError(
    `calendar ${quoteText(name)} cannot be read; replace it with calendar add --replace: ${before.fault}`,
  );
}
