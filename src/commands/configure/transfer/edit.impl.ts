import { UsageError } from "../../../base/errors.ts";
import { computeConfigChanges } from "../../../fleet/config-changes.ts";
import {
  applyConfigDocument,
  type ConfigDocument,
  formatConfigDocument,
} from "../../../fleet/config-document.ts";
import { parseConfigDocument } from "../../../fleet/config-document-parser.ts";
import { buildConfiguration, listMalformedConfig } from "../../../model/config-impact/configuration.ts";
import { formatConfigChanges } from "../../../model/config-impact/impact-text.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import { parseReasonFlag } from "../../command-line/flags.ts";
import { editText } from "../../editor.ts";
import { ignoreCtrlC } from "../../ignore-ctrl-c.ts";
import { createActionCommand } from "../../outcome/action-command.ts";
import type { ActionOutcome } from "../../outcome/action-outcome.ts";
import { createOutcome } from "../../outcome/create-outcome.ts";
import type { ConfigResult, OperationResult } from "../../outcome.ts";
import { readSnapshot } from "../../read-snapshot.ts";
import type { ActionContext } from "../../store-command.ts";
import { ConfigChangeCommand } from "../config-change.ts";
import { CONFIG_COLLECTIONS, createTotalCheck, IMPACT_COLLECTIONS } from "../config-snapshot.ts";
import { formatFaultLines, removeByteOrderMark } from "../documents.ts";

/** The action and target of the change, as in the audit. */
const EDIT = { action: "edit", target: "configuration" } as const;

export const { execute, perform } = createActionCommand(async (interruptible) => {
  const { call, io } = interruptible;
  if (!io.terminal.canAsk() && !call.flags.yes)
    throw new UsageError(
      "edit needs a terminal; in a script use export and import, or set EDITOR to a program and add --yes",
    );
  parseReasonFlag(call); // check it before the user types anything
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
