import { type ConfigChange, computeConfigChanges } from "../../fleet/config-changes.ts";
import { applyConfigDocument, type ConfigDocument } from "../../fleet/config-document.ts";
import { parseConfigDocument } from "../../fleet/config-document-parser.ts";
import { buildConfiguration, listMalformedConfig } from "../../model/config-impact/configuration.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import { createActionCommand } from "../outcome/action-command.ts";
import type { ActionOutcome } from "../outcome/action-outcome.ts";
import { createFaultyOutcome } from "../outcome/create-outcome.ts";
import { readSnapshot } from "../read-snapshot.ts";
import type { ActionContext } from "../store-command.ts";
import { ConfigChangeCommand } from "./config-change.ts";
import { createTotalCheck, IMPACT_COLLECTIONS } from "./config-snapshot.ts";
import { formatFaultLines, readDocumentText } from "./documents.ts";

export const { execute, perform } = createActionCommand(async (context) => {
  const [file = "-"] = context.call.args;
  return await importDocument(context, file, await readDocumentText(context.io, file));
});

/** Previews and applies the configuration in a document. */
export async function importDocument(
  context: ActionContext,
  file: string,
  text: string,
): Promise<ActionOutcome> {
  const snapshot = await readSnapshot(context, IMPACT_COLLECTIONS);
  const document = parseConfigDocument(text, createTotalCheck(context, snapshot));
  if ("faults" in document)
    return createFaultyOutcome({ revision: snapshot.revision, faults: document.faults }, [
      ...formatFaultLines(file, document.faults),
      "nothing was changed",
    ]);
  const changes = computeChanges(snapshot, document.value, context.call.flags.replace === true);
  const nothing = "the configuration is up to date: nothing to change";
  return await new ConfigChangeCommand(context, {
    action: "import",
    target: "configuration",
    snapshot,
    changes,
    nothing,
    isBulk: true,
  }).run();
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
