import { basename } from "node:path";
import { buildImportMutation, formatImportCounts } from "../../../operate/import-schedules.ts";
import { validateName } from "../../../protocol/names.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import { readDocumentText } from "../../configure/documents.ts";
import { createActionCommand } from "../../outcome/action-command.ts";
import { AmendmentCommand } from "../amendment-command.ts";
import { createImportFaults } from "../transfer/import-input.ts";
import { convertTable } from "./convert.ts";

export const { execute, perform } = createActionCommand(async (context) => {
  const { call, io } = context;
  const [file = "-"] = call.args;
  const text = await readDocumentText(io, file);
  const name = file === "-" ? "standard input" : file;
  const source = validateName("source", getTextFlag(call, "source") ?? "perfectsched");
  const terms = {
    type: getTextFlag(call, "type"),
    source,
    prefix: getTextFlag(call, "prefix-id") ?? "",
    now: context.clock.getWallTime(),
  };
  const { definitions, positions, faults, notes } = convertTable(text, terms);
  const formatRemark = ({ line, detail }: { line: number; detail: string }) => `${name}:${line}: ${detail}`;
  if (faults.length > 0)
    return createImportFaults([...faults].sort((a, b) => a.line - b.line).map(formatRemark));
  return await new AmendmentCommand(context, {
    amendment: buildImportMutation({
      definitions,
      positions,
      source,
      prunes: call.flags.prune === true,
      target: `schedules of ${basename(name)}`,
    }),
    notes: notes.map(formatRemark),
    needsConfirmation: true,
    nothing: "the schedules are up to date: nothing to change",
    buildQuestion: (changes) => `Import ${definitions.size} schedules (${formatImportCounts(changes)})?`,
  }).run();
});
