import { readFileSync } from "node:fs";
import { formatConfigDocument } from "../../../fleet/config-document.ts";
import { buildConfiguration, listMalformedConfig } from "../../../model/config-impact/configuration.ts";
import { createReadCommand } from "../../read-command.ts";
import { readSnapshot } from "../../read-snapshot.ts";
import { CONFIG_COLLECTIONS } from "../config-snapshot.ts";
import { replaceFileText } from "../write-file.ts";

export const execute = createReadCommand(async ({ args }, io, context) => {
  const [file = "-"] = args;
  const snapshot = await readSnapshot(context, CONFIG_COLLECTIONS);
  const text = formatConfigDocument(buildConfiguration(snapshot), snapshot.revision);
  const printNote = (line: string) => context.printMessage(`note: ${line}`);
  for (const { kind, name, fault } of listMalformedConfig(snapshot))
    printNote(`${kind} ${name} cannot be read and was left out: ${fault}`);
  if (file === "-") io.writeOutput(text);
  else if (isSameDocument(file, text)) printNote(`${file} is up to date`);
  else replaceFileText(file, text);
});

/** Reports whether a file differs from a text only in the revision. */
function isSameDocument(file: string, text: string): boolean {
  const removeRevision = (one: string) => one.replace(/^ {2}"revision": "\d+",\n/m, "");
  try {
    return removeRevision(readFileSync(file, "utf8")) === removeRevision(text);
  } catch {
    return false;
  }
}
