import { quoteText } from "../../base/text.ts";
import type { ConfigChange } from "../../fleet/config-changes.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import type { ActionOutcome } from "../outcome/action-outcome.ts";
import type { ConfigResult } from "../outcome.ts";
import type { ActionContext } from "../store-command.ts";
import { ConfigChangeCommand } from "./config-change.ts";

/** Changes one group or resource. */
export async function changeConfigEntry(
  context: ActionContext,
  { kind, name, snapshot }: Pick<ConfigChange, "kind" | "name"> & { snapshot: Snapshot },
  changes: readonly ConfigChange[],
): Promise<ActionOutcome<ConfigResult>> {
  const kept = (kind === "group" ? snapshot.groups : snapshot.resources).get(name);
  const missing = kind === "group" ? "does not exist" : "is not configured";
  const what = `${kind} ${quoteText(name)}`;
  return await new ConfigChangeCommand(context, {
    action: kind,
    target: `${kind} ${name}`,
    snapshot,
    changes,
    nothing: `${what} ${kept === undefined ? missing : "is up to date"}: nothing to change`,
    notes: kept?.fault === undefined ? [] : [`${what} could not be read: ${kept.fault}`],
  }).run();
}
