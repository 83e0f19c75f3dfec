import { EXIT } from "../../../base/errors.ts";
import { clean } from "../../../base/text.ts";
import { buildImportMutation, formatImportCounts } from "../../../work/schedules/import-schedules.ts";
import { previewMutation } from "../../../work/schedules/schedule-mutation.ts";
import { createStoreCommand } from "../../store-command.ts";
import { formatJsonDocument } from "../../table.ts";
import { toScheduleChangeJson } from "../amendment-command.ts";
import { formatScheduleChange } from "../change-lines.ts";
import { readImportInput } from "./import-input.ts";

export const execute = createStoreCommand(async (call, io, context) => {
  const input = await readImportInput(call, io);
  if (typeof input === "number") return input;
  const { changes, revision } = await previewMutation(context, buildImportMutation(input.wanted));
  if (call.flags.json)
    io.writeOutput(
      formatJsonDocument({ revision, changes: changes.map(toScheduleChangeJson), notes: input.notes }),
    );
  else {
    for (const note of input.notes)
      if (call.verbosity >= 0) io.writeError(`signalbox: note: ${clean(note)}\n`);
    for (const change of changes) io.writeOutput(`${clean(formatScheduleChange(change))}\n`);
    io.writeOutput(`${formatImportCounts(changes)}\n`);
  }
  return changes.length === 0 ? EXIT.ok : EXIT.undone;
});
