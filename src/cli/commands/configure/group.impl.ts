import { ConfigError, UsageError } from "../../../core/base/errors.ts";
import { findNameFault, quoteText } from "../../../core/base/text.ts";
import { normalizeMembers } from "../../../core/fleet/configuration.ts";
import { createUnknownGroupError } from "../../../core/fleet/groups.ts";
import { validateName } from "../../../core/protocol/names.ts";
import type { Snapshot } from "../../../site/state/snapshot.ts";
import { createActionCommand } from "../../frame/action.ts";
import type { ActionImplementation } from "../../frame/command.ts";
import { changeConfigEntry, readSite } from "./change-site.ts";

/** A group, and the complete configuration. */
interface GroupPlace {
  name: string;
  snapshot: Snapshot;
}

export const setMembers = createGroupCommand((given) => given);
export const addMembers = createGroupCommand((given, where) => {
  if (given.length === 0) throw new UsageError("MEMBER is missing: the host or group to add");
  return [...getCurrentMembers(where), ...given];
});
export const removeMembers = createGroupCommand((given, where) => {
  if (given.length === 0) throw new UsageError("MEMBER is missing: the host or group to remove");
  const gone = new Set(given);
  return getCurrentMembers(where).filter((member) => !gone.has(member));
});
export const deleteGroup = createGroupCommand(() => undefined);

/** Creates a command that changes one group: `GROUP MEMBER...`. @param updateMembers  computes the new members */
function createGroupCommand(
  updateMembers: (given: readonly string[], where: GroupPlace) => readonly string[] | undefined,
): ActionImplementation {
  return createActionCommand(async (context) => {
    const [given = "", ...members] = context.args;
    const name = validateName("group", given);
    for (const member of members) {
      const fault = findNameFault(member);
      if (fault !== undefined) throw new UsageError(`member ${quoteText(member)} cannot be used: ${fault}`);
    }
    const read = await readSite(context, new Set(["groups"]));
    const wanted = updateMembers(members, { name, snapshot: read.snapshot });
    const document = { groups: new Map([[name, wanted && { members: wanted }]]) };
    return await changeConfigEntry(context, read, { kind: "group", name, document });
  });
}

/** Returns the members of a group that is changed, not replaced. @throws ConfigError if there is nothing to change */
function getCurrentMembers({ name, snapshot }: GroupPlace): readonly string[] {
  const kept = snapshot.groups.get(name);
  if (kept === undefined) throw createUnknownGroupError(snapshot.groups, name);
  const { fault, value = [] } = kept;
  if (fault !== undefined)
    throw new ConfigError(`group ${quoteText(name)} cannot be read; replace it with group set: ${fault}`);
  return normalizeMembers(value);
}
