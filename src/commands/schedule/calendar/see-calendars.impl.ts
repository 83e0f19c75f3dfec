import { clean, quoteText } from "../../../base/text.ts";
import { listUsers } from "../../../operate/calendar-mutation.ts";
import type { StoredCalendar } from "../../../operate/stored-calendars.ts";
import { readAllStoredSchedules } from "../../../operate/stored-schedules.ts";
import { validateName } from "../../../protocol/names.ts";
import { NotFoundError } from "../../../schedule/errors.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createReadCommand } from "../../read-command.ts";
import { renderTextTable } from "../../table.ts";

export const listCalendars = createReadCommand(async ({ flags }, io, context) => {
  const stored = await readAllStoredSchedules(context, context.signal);
  const rows = [...stored.calendars].map(([name, calendar]) =>
    toJson(name, calendar, listUsers(stored, name)),
  );
  if (flags.json) io.writeOutput(formatJsonDocument({ revision: stored.revision, rows }));
  else
    io.writeOutput(
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

export const showCalendar = createReadCommand(async ({ args, flags }, io, context) => {
  const name = validateName("calendar", args[0] ?? "");
  const stored = await readAllStoredSchedules(context, context.signal);
  const calendar = stored.calendars.get(name);
  if (calendar === undefined)
    throw new NotFoundError(`there is no calendar ${quoteText(name)}; see: signalbox calendar list`);
  const shown = toJson(name, calendar, listUsers(stored, name));
  if (flags.json) {
    io.writeOutput(formatJsonDocument({ revision: stored.revision, ...shown }));
    return;
  }
  const { days, note, fault, schedules } = shown;
  const lines = [
    ...(fault === undefined ? [] : [`it cannot be read, so the schedules that use it do not fire: ${fault}`]),
    ...(note === undefined ? [] : [`note: ${note}`]),
    ...(days ?? []),
    schedules.length === 0 ? "no schedule uses it" : `used by: ${schedules.join(", ")}`,
  ];
  io.writeOutput(lines.map((line) => `${clean(line)}\n`).join(""));
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
