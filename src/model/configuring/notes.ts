import { quoted } from "../../base/text.ts";
import type { ConfigChange, GroupChange } from "../../fleet/changes.ts";
import { groupNotes } from "../../fleet/group-notes.ts";
import { canonicalHost, type Groups } from "../../fleet/groups.ts";
import type { Picture } from "../picture.ts";

/** Hosts that are named as never seen; of more, only how many they are. */
const MANY = 5;

/** What an operator may not have meant by changes of groups: only what they bring about, not what was so before. */
export function configNotes(
  picture: Pick<Picture, "hosts">,
  before: Groups,
  after: Groups,
  changes: readonly ConfigChange[],
): string[] {
  const groups = changes.filter((change) => change.kind === "group");
  if (groups.length === 0) return [];
  const known = new Set(groupNotes(before));
  return [
    ...groupNotes(after).filter((note) => !known.has(note)),
    ...turnedNames(before, after, groups),
    ...strangers(picture, after, groups),
  ];
}

/** Members whose meaning turns: from a host to a group, or back. */
function turnedNames(before: Groups, after: Groups, changes: readonly GroupChange[]): string[] {
  const turned = new Set(
    changes.filter(({ name }) => before.has(name) !== after.has(name)).map(({ name }) => name),
  );
  return [...after].flatMap(([name, members]) =>
    members
      .filter((member) => turned.has(member) && before.get(name)?.includes(member))
      .map((member) =>
        after.has(member)
          ? `group ${quoted(name)} has a member ${quoted(member)}: a host so far, the group from now on`
          : `group ${quoted(name)} still names ${quoted(member)}, which is taken for a host now`,
      ),
  );
}

/** New members that are no groups, and no hosts that were ever seen. */
function strangers(
  { hosts }: Pick<Picture, "hosts">,
  after: Groups,
  changes: readonly GroupChange[],
): string[] {
  const seen = new Set([...hosts.keys()].map(canonicalHost));
  const added = changes.flatMap(({ before, after: now }) =>
    (now ?? []).filter((member) => before?.includes(member) !== true && !after.has(member)),
  );
  const unknown = [...new Set(added)].filter((member) => !seen.has(canonicalHost(member)));
  const notes = unknown.slice(0, MANY).map((member) => {
    const full = [...seen].find((host) => host.startsWith(`${canonicalHost(member)}.`));
    const hint = full === undefined ? "" : `; did you mean ${quoted(full)}?`;
    return `${quoted(member)} is no group, and no host of this name was ever seen${hint}`;
  });
  return unknown.length > MANY ? [...notes, `nor were ${unknown.length - MANY} others`] : notes;
}
