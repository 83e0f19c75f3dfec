import { readFileSync } from "node:fs";
import { EXIT, SignalboxError, UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { type ConfigChange, computeConfigChanges } from "../../fleet/config-changes.ts";
import {
  applyConfigDocument,
  type ConfigDocument,
  formatConfigDocument,
  parseConfigDocument,
} from "../../fleet/config-document-parser.ts";
import { buildConfiguration, listMalformedConfig } from "../../state/configuration.ts";
import { formatConfigChanges } from "../../state/impact.ts";
import type { Snapshot } from "../../state/snapshot.ts";
import { extractZnodeJson } from "../../syntax/znode-json.ts";
import { editText, ignoreCtrlC } from "../editor.ts";
import {
  type ActionOutcome,
  type ConfigResult,
  createFaultyOutcome,
  createOutcome,
  type OperationResult,
} from "../outcome.ts";
import { createActionCommand } from "../print-outcome.ts";
import { createReadCommand, readSnapshot } from "../read-snapshot.ts";
import type { ActionContext } from "../store-command.ts";
import {
  CONFIG_COLLECTIONS,
  ConfigChangeCommand,
  createTotalCheck,
  IMPACT_COLLECTIONS,
} from "./config-change.ts";
import { formatFaultLines, readDocumentText, removeByteOrderMark, replaceFileText } from "./documents.ts";
import type { ImportConfigFlags } from "./transfer.ts";

export const importConfiguration = createActionCommand(async (context: ActionContext<ImportConfigFlags>) => {
  const [file = "-"] = context.call.args;
  return await importDocument(context, file, await readDocumentText(context.io, file));
});

/** Previews and applies the configuration in a document. */
async function importDocument(
  context: ActionContext<ImportConfigFlags>,
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

export const exportConfiguration = createReadCommand(async ({ args }, io, context) => {
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

export const importSwitchmanData = createActionCommand(async (context) => {
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

/** The action and target of the change, as in the audit. */
const EDIT = { action: "edit", target: "configuration" } as const;

export const editConfiguration = createActionCommand(async (interruptible) => {
  const { call, io } = interruptible;
  if (!io.terminal.canAsk() && !call.flags.yes)
    throw new UsageError(
      "edit needs a terminal; in a script use export and import, or set EDITOR to a program and add --yes",
    );
  const context = { ...interruptible, signal: ignoreCtrlC(interruptible.signal) };
  const snapshot = await readSnapshot(context, [...CONFIG_COLLECTIONS, "hosts"]);
  for (const { kind, name, fault } of listMalformedConfig(snapshot))
    context.printMessage(`note: ${kind} ${name} cannot be read; it is left out and not changed: ${fault}`);
  return await editText(context, {
    text: formatConfigDocument(buildConfiguration(snapshot), snapshot.revision),
    parse: (text, path) => {
      const parsed = parseConfigDocument(removeByteOrderMark(text), createTotalCheck(context, snapshot));
      return "value" in parsed ? parsed : { faults: formatFaultLines(path, parsed.faults) };
    },
    apply: (document) => applyDocument(context, snapshot, document),
    isSettled: ({ result }) => isStored(result),
    describeNextStep: (path) =>
      `to see what it would change now: signalbox import --replace --dry-run ${path}`,
  });
});

/** Applies the document unless the configuration has changed since the snapshot. */
async function applyDocument(
  context: ActionContext,
  snapshot: Snapshot,
  document: ConfigDocument,
): Promise<ActionOutcome<ConfigResult>> {
  const now = await readSnapshot(context, IMPACT_COLLECTIONS);
  const messages = formatConfigChanges(snapshot, now, () => true);
  if (messages.length > 0) {
    const { revision } = now;
    const refusal = { kind: "configuration", outcome: "changed", revision, ...EDIT } as const;
    const heading = "nothing was done, because the configuration has changed since it was opened:";
    return createOutcome(context.call, { ...refusal, changes: [], affected: [] }, { messages, heading });
  }
  const before = buildConfiguration(snapshot);
  return await new ConfigChangeCommand(context, {
    ...EDIT,
    snapshot: now,
    isBulk: true,
    changes: computeConfigChanges(before, applyConfigDocument(before, document, true)),
    nothing: "nothing was changed",
  }).run();
}

/** Whether the configuration in etcd is as the user wrote it. */
function isStored(result: OperationResult): boolean {
  return result.kind === "configuration" && (result.outcome === "done" || result.outcome === "nothing");
}
