import { EXIT, SignalboxError } from "../../../base/errors.ts";
import { quoteText } from "../../../base/text.ts";
import { parseConfigDocument } from "../../../fleet/config-document-parser.ts";
import { extractZnodeJson } from "../../../syntax/znode-json.ts";
import { createActionCommand } from "../../outcome/action-command.ts";
import { readDocumentText } from "../documents.ts";
import { importDocument } from "../transfer.impl.ts";

export const { execute, perform } = createActionCommand(async (context) => {
  const [file = "-"] = context.call.args;
  const printed = await readDocumentText(context.io, file);
  const name = file === "-" ? "stdin" : file;
  if (printed.trim() === "" || printed.trim() === "null")
    throw new SignalboxError(EXIT.config, `${name} is empty: the znode keeps neither groups nor resources`);
  const found = extractZnodeJson(printed);
  const text = found?.text ?? printed;
  const notes = [...describeSkippedLines(found?.passedOver ?? []), ...listShortNameNotes(text)];
  for (const note of notes) context.printMessage(`${name}: ${note}`);
  return await importDocument(context, name, text);
});

function describeSkippedLines(lines: readonly number[]): string[] {
  const shown = lines.slice(0, 8).join(", ");
  if (lines.length === 0) return [];
  const which = `${lines.length === 1 ? "line" : "lines"} ${shown}${lines.length > 8 ? ", ..." : ""}`;
  return [`ignored, not part of the data: ${which}`];
}

/** Lists notes about members that are neither a group in the document nor the full name of a host. */
function listShortNameNotes(text: string): string[] {
  const document = parseConfigDocument(text, () => undefined);
  if ("faults" in document) return []; // the import reports these
  const groups = document.value.groups ?? new Map<string, readonly string[]>();
  return [...groups].flatMap(([group, members]) =>
    members
      .filter((member) => !groups.has(member) && !member.includes("."))
      .map(
        (member) =>
          `group ${quoteText(group)}: ${quoteText(member)} is neither a group nor a full host name: only a host whose` +
          " name is exactly this is in the group",
      ),
  );
}
