import { EXIT } from "../../../base/errors.ts";
import { clean } from "../../../base/text.ts";
import { type ConfigChange, computeConfigChanges } from "../../../fleet/config-changes.ts";
import { applyConfigDocument, type ConfigDocument } from "../../../fleet/config-document.ts";
import { parseConfigDocument } from "../../../fleet/config-document-parser.ts";
import { buildConfiguration, listMalformedConfig } from "../../../model/config-impact/configuration.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import { readSnapshot } from "../../read-snapshot.ts";
import type { Call, CommandIo } from "../../spec.ts";
import { type CommandContext, createStoreCommand } from "../../store-command.ts";
import { formatJsonDocument } from "../../table.ts";
import { ConfigChangeCommand } from "../config-change-command.ts";
import { createTotalCheck, IMPACT_COLLECTIONS } from "../config-snapshot.ts";
import { formatFaultLines, readDocumentText } from "../document-input.ts";

export const execute = createStoreCommand(async (call, io, context) => {
  const [file = "-"] = call.args;
  return await importDocument(call, io, context, file, await readDocumentText(io, file));
});

/** Previews and applies the configuration in a document. @returns the exit code */
export async function importDocument(
  call: Call,
  io: CommandIo,
  context: CommandContext,
  file: string,
  text: string,
): Promise<number> {
  const snapshot = await readSnapshot(context, IMPACT_COLLECTIONS);
  const document = parseConfigDocument(text, createTotalCheck(context, snapshot));
  if ("faults" in document) {
    const { faults } = document;
    if (call.flags.json)
      io.writeOutput(formatJsonDocument({ revision: snapshot.revision, outcome: "faulty", faults }));
    else if (call.verbosity >= 0)
      for (const line of [...formatFaultLines(file, faults), "nothing was changed"])
        io.writeError(`signalbox: ${clean(line)}\n`);
    return EXIT.config;
  }
  const changes = computeChanges(snapshot, document.value, call.flags.replace === true);
  const nothing = "the configuration is up to date: nothing to change";
  const draft = {
    action: "import",
    target: "configuration",
    snapshot,
    changes,
    nothing,
    isBulk: true,
  } as const;
  return (await new ConfigChangeCommand(call, io, context, draft).run()).code;
}

function computeChanges(snapshot: Snapshot, document: ConfigDocument, replace: boolean): ConfigChange[] {
  const current = buildConfiguration(snapshot);
  const changes = computeConfigChanges(current, applyConfigDocument(current, document, replace));
  const isMentioned = { group: document.groups !== undefined, resource: document.resources !== undefined };
  const set = new Set(changes.map(({ kind, name }) => `${kind} ${name}`));
  const unreadable = listMalformedConfig(snapshot).filter(
    ({ kind, name }) => replace && isMentioned[kind] && !set.has(`${kind} ${name}`),
  );
  return [...changes, ...unreadable.map(buildDeletion)];
}

function buildDeletion({ kind, name }: { kind: ConfigChange["kind"]; name: string }): ConfigChange {
  return kind === "group"
    ? { kind, name, before: [], after: undefined }
    : { kind, name, before: {}, after: undefined };
}
