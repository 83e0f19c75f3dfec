import { buildImportMutation, formatImportCounts } from "../../operate/import-schedules.ts";
import { createActionCommand } from "../outcome/action-command.ts";
import { AmendmentCommand } from "./amendment-command.ts";
import { readImportInput } from "./transfer/import-input.ts";

export const { execute, perform } = createActionCommand(async (context) => {
  const input = await readImportInput(context.call, context.io, context.clock.getWallTime());
  if ("faulty" in input) return input.faulty;
  const { wanted, notes } = input;
  return await new AmendmentCommand(context, {
    amendment: buildImportMutation(wanted),
    notes,
    needsConfirmation: true,
    nothing: "the schedules are up to date: nothing to change",
    buildQuestion: (changes) =>
      `Import ${wanted.definitions.size} schedules (${formatImportCounts(changes)})?`,
  }).run();
});
