import { buildImportMutation, formatImportCounts } from "../../../work/schedules/import-schedules.ts";
import { createStoreCommand } from "../../store-command.ts";
import { AmendmentCommand } from "../amendment-command.ts";
import { readImportInput } from "./import-input.ts";

export const execute = createStoreCommand(async (call, io, context) => {
  const input = await readImportInput(call, io);
  if (typeof input === "number") return input;
  const { wanted, notes } = input;
  const { code } = await new AmendmentCommand(call, io, context, {
    ...{ amendment: buildImportMutation(wanted), notes, needsConfirmation: true },
    nothing: "the schedules are up to date: nothing to change",
    buildQuestion: (changes) =>
      `Import ${wanted.definitions.size} schedules (${formatImportCounts(changes)})?`,
  }).run();
  return code;
});
