import { ConfigError, UsageError } from "../../base/errors.ts";
import { nameFault, quoted } from "../../base/text.ts";
import { normalMembers } from "../../fleet/configuration.ts";
import { unknownGroup } from "../../fleet/groups.ts";
import type { Picture } from "../../model/picture.ts";
import { checkedName } from "../../protocol/names.ts";
import { pictureOf } from "../look.ts";
import type { Execute } from "../spec.ts";
import { withStore } from "../with-store.ts";
import { IMPACT_ROOMS } from "./configured.ts";
import { Reconfiguration } from "./configuring.ts";

/** What is to become of a group's members. */
export type MembersAfter = (
  /** Undefined where there is no such group; empty where it cannot be read. */
  before: readonly string[] | undefined,
  given: readonly string[],
  /** The group, and all that is configured. */
  where: { name: string; picture: Picture },
) => readonly string[] | undefined;

/** The work of a command that changes one group: `GROUP MEMBER...`. */
export function groupCommand(membersAfter: MembersAfter): Execute {
  return withStore(async (call, world, desk) => {
    const [given = "", ...members] = call.args;
    const name = checkedName("group", given);
    for (const member of members) checkMember(member);
    const picture = await pictureOf(desk, IMPACT_ROOMS);
    const kept = picture.groups.get(name);
    const before = kept && normalMembers(kept.value ?? []);
    const wanted = membersAfter(before, members, { name, picture });
    const after = wanted && normalMembers(wanted);
    const isSame = kept?.fault === undefined && JSON.stringify(before) === JSON.stringify(after);
    const nothing =
      before === undefined
        ? `there is no group ${quoted(name)}: nothing to change`
        : `group ${quoted(name)} is so already: nothing to change`;
    const draft = { action: "group", target: `group ${name}`, picture, nothing } as const;
    const { code } = await new Reconfiguration(call, world, desk, {
      ...draft,
      notes: kept?.fault === undefined ? [] : [`group ${quoted(name)} could not be read: ${kept.fault}`],
      changes: isSame ? [] : [{ kind: "group", name, before, after }],
    }).run();
    return code;
  });
}

/** The members of a group that is to be changed, not replaced. @throws ConfigError where there is nothing to change */
export function membersNow(...[before, , { name, picture }]: Parameters<MembersAfter>): readonly string[] {
  const fault = picture.groups.get(name)?.fault;
  if (fault !== undefined)
    throw new ConfigError(`group ${quoted(name)} cannot be read, replace it with group set: ${fault}`);
  if (before === undefined) throw unknownGroup(picture.groups, name);
  return before;
}

function checkMember(member: string): void {
  const fault = nameFault(member);
  if (fault !== undefined) throw new UsageError(`member ${quoted(member)} cannot be used: ${fault}`);
}
