import type { Definition } from "../../../schedule/definition.ts";
import { readAllStoredSchedules } from "../../../work/schedules/stored-schedules.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import { replaceFileText } from "../../configure/write-file.ts";
import { createStoreCommand } from "../../store-command.ts";
import { formatScheduleCrontab } from "../crontab/format-crontab.ts";
import { formatScheduleDocument } from "./schedule-document.ts";

export const execute = createStoreCommand(async (call, io, context) => {
  const [file = "-"] = call.args;
  const { schedules } = await readAllStoredSchedules(context, context.signal);
  const definitions = new Map<string, Definition>();
  for (const { id, definition, fault } of schedules.values()) {
    if (definition !== undefined) definitions.set(id, definition);
    else context.printMessage(`note: schedule ${id} cannot be read and was left out: ${fault ?? ""}`);
  }
  const text = (getTextFlag(call, "format") === "crontab" ? formatScheduleCrontab : formatScheduleDocument)(
    definitions,
  );
  if (file === "-") io.writeOutput(text);
  else replaceFileText(file, text);
});
