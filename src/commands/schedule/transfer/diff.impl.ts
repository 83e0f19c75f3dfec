import { EXIT } from "../../../base/errors.ts";
import { clean } from "../../../base/text.ts";
import { buildImportMutation, formatImportCounts } from "../../../operate/import-schedules.ts";
import { previewMutation } from "../../../operate/schedule-mutation.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { toScheduleChangeJson } from "../../outcome/outcome-json.ts";
import { printOutcome } from "../../print-outcome.ts";
import { createStoreCommand } from "../../store-command.ts";
import { formatScheduleChange, toScheduleChange } from "../describe-schedule.ts";
import { listCalendarNotes } from "../inspect/calendar-lines.ts";
import { readImportInput } from "./import-input.ts";

export const execute = createStoreCommand(async (call, io, context) => {
  const input = await readImportInput(call, io, context.clock.getWallTime());
  if ("faulty" in input) return printOutcome(input.faulty, call, io);
  const plan = await previewMutation(context, buildImportMutation(input.wanted));
  const { changes, added, revision } = plan;
  const notes = [...input.notes, ...listCalendarNotes(plan)];
  if (call.flags.json)
    io.writeOutput(
      formatJsonDocument({
        revision,
        changes: changes.map((change) => toScheduleChangeJson(toScheduleChange(change))),
        notes,
      }),
    );
  else {
    for (const note of notes) context.printMessage(`note: ${note}`);
    for (const change of changes) io.writeOutput(`${clean(formatScheduleChange(change))}\n`);
    io.writeOutput(`${formatImportCounts(changes, added.length)}\n`);
  }
  return changes.length + added.length === 0 ? EXIT.ok : EXIT.undone;
});
