import { isDeepStrictEqual } from "node:util";
import { ConfigError, UsageError } from "../../../base/errors.ts";
import { findNameFault, quoteText } from "../../../base/text.ts";
import { normalizeMembers } from "../../../fleet/configuration.ts";
import { createUnknownGroupError } from "../../../fleet/groups.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import { validateName } from "../../../protocol/names.ts";
import { createActionCommand } from "../../outcome/action-command.ts";
import { readSnapshot } from "../../read-snapshot.ts";
import type { ActionImplementation } from "../../spec.ts";
import { ConfigChangeCommand } from "../config-change-command.ts";
import { IMPACT_COLLECTIONS } from "../config-snapshot.ts";

/** Computes the new members of a group. */
export type MembersUpdate = (
  /** Undefined if the group does not exist; empty if it cannot be read. */
  before: readonly string[] | undefined,
  given: readonly string[],
  /** The group, and the complete configuration. */
  where: { name: string; snapshot: Snapshot },
) => readonly string[] | undefined;

/** Creates a command that changes one group: `GROUP MEMBER...`. */
export function createGroupCommand(updateMembers: MembersUpdate): ActionImplementation {
  return createActionCommand(async (call, io, context) => {
    const [given = "", ...members] = call.args;
    const name = validateName("group", given);
    for (const member of members) checkMember(member);
    const snapshot = await readSnapshot(context, IMPACT_COLLECTIONS);
    const kept = snapshot.groups.get(name);
    const before = kept && normalizeMembers(kept.value ?? []);
    const wanted = updateMembers(before, members, { name, snapshot });
    const after = wanted && normalizeMembers(wanted);
    const isSame = kept?.fault === undefined && isDeepStrictEqual(before, after);
    const nothing =
      before === undefined
        ? `group ${quoteText(name)} does not exist: nothing to change`
        : `group ${quoteText(name)} is up to date: nothing to change`;
    const draft = { action: "group", target: `group ${name}`, snapshot, nothing } as const;
    return await new ConfigChangeCommand(call, io, context, {
      ...draft,
      notes: kept?.fault === undefined ? [] : [`group ${quoteText(name)} could not be read: ${kept.fault}`],
      changes: isSame ? [] : [{ kind: "group", name, before, after }],
    }).run();
  });
}

/** Returns the members of a group that is changed, not replaced. @throws ConfigError if there is nothing to change */
export function getCurrentMembers(
  ...[before, , { name, snapshot }]: Parameters<MembersUpdate>
): readonly string[] {
  const fault = snapshot.groups.get(name)?.fault;
  if (fault !== undefined)
    throw new ConfigError(`group ${quoteText(name)} cannot be read; replace it with group set: ${fault}`);
  if (before === undefined) throw createUnknownGroupError(snapshot.groups, name);
  return before;
}

function checkMember(member: string): void {
  const fault = findNameFault(member);
  if (fault !== undefined) throw new UsageError(`member ${quoteText(member)} cannot be used: ${fault}`);
}
