import { ConfigError, UsageError } from "../../base/errors.ts";
import { findNameFault, quoteText } from "../../base/text.ts";
import { normalizeMembers } from "../../fleet/configuration.ts";
import { createUnknownGroupError } from "../../fleet/groups.ts";
import { validateName } from "../../protocol/names.ts";
import type { Snapshot } from "../../state/snapshot.ts";
import type { ActionImplementation } from "../command.ts";
import { createActionCommand } from "../print-outcome.ts";
import { changeConfigEntry, readSite } from "./change-site.ts";

/** A group, and the complete configuration. */
interface GroupPlace {
  name: string;
  snapshot: Snapshot;
}

/** Computes the new members of a group. */
type MembersUpdate = (
  /** Undefined if the group does not exist; empty if it cannot be read. */
  before: readonly string[] | undefined,
  given: readonly string[],
  where: GroupPlace,
) => readonly string[] | undefined;

export const setMembers = createGroupCommand((_, given) => given);
export const addMembers = createGroupCommand((before, given, where) => {
  if (given.length === 0) throw new UsageError("MEMBER is missing: the host or group to add");
  return [...getCurrentMembers(before, where), ...given];
});
export const removeMembers = createGroupCommand((before, given, where) => {
  if (given.length === 0) throw new UsageError("MEMBER is missing: the host or group to remove");
  const gone = new Set(given);
  return getCurrentMembers(before, where).filter((member) => !gone.has(member));
});
export const deleteGroup = createGroupCommand(() => undefined);

/** Creates a command that changes one group: `GROUP MEMBER...`. */
function createGroupCommand(updateMembers: MembersUpdate): ActionImplementation {
  return createActionCommand(async (context) => {
    const [given = "", ...members] = context.args;
    const name = validateName("group", given);
    for (const member of members) checkMember(member);
    const read = await readSite(context, new Set(["groups"]));
    const { snapshot } = read;
    const kept = snapshot.groups.get(name);
    const before = kept && normalizeMembers(kept.value ?? []);
    const wanted = updateMembers(before, members, { name, snapshot });
    const document = { groups: new Map([[name, wanted && { members: wanted }]]) };
    return await changeConfigEntry(context, read, { kind: "group", name, document });
  });
}

/** Returns the members of a group that is changed, not replaced. @throws ConfigError if there is nothing to change */
function getCurrentMembers(
  before: readonly string[] | undefined,
  { name, snapshot }: GroupPlace,
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
