import { readAllStoredSchedules } from "../../../operate/stored-schedules.ts";
import type { Calendar } from "../../../schedule/calendar/calendar.ts";
import type { Definition } from "../../../schedule/definition.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import { replaceFileText } from "../../configure/write-file.ts";
import { createStoreCommand } from "../../store-command.ts";
import { formatScheduleCrontab } from "../crontab/format-crontab.ts";
import { formatScheduleDocument } from "../schedule-document.ts";

export const execute = createStoreCommand(async (call, io, context) => {
  const [file = "-"] = call.args;
  const { schedules, calendars: stored } = await readAllStoredSchedules(context, context.signal);
  const definitions = new Map<string, Definition>();
  for (const { id, definition, fault } of schedules.values()) {
    if (definition !== undefined) definitions.set(id, definition);
    else context.printMessage(`note: schedule ${id} cannot be read and was left out: ${fault ?? ""}`);
  }
  const calendars = new Map<string, Calendar>();
  for (const [name, calendar] of stored) {
    if ("value" in calendar) calendars.set(name, calendar.value);
    else context.printMessage(`note: calendar ${name} cannot be read and was left out: ${calendar.fault}`);
  }
  const text =
    getTextFlag(call, "format") === "crontab"
      ? formatScheduleCrontab(definitions)
      : formatScheduleDocument({ definitions, calendars });
  if (file === "-") io.writeOutput(text);
  else replaceFileText(file, text);
});
