import { quoteText } from "../../base/text.ts";
import type { ConfigChange, GroupChange } from "../../fleet/config-changes.ts";
import { listGroupNotes } from "../../fleet/group-notes.ts";
import { canonicalizeHost, type Groups } from "../../fleet/groups.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** Number of unknown hosts listed by name. Further hosts are only counted. */
const MANY = 5;

/** Lists possible mistakes in group changes. Mistakes that existed before the changes are not included. */
export function listConfigNotes(
  snapshot: Pick<Snapshot, "hosts">,
  before: Groups,
  after: Groups,
  changes: readonly ConfigChange[],
): string[] {
  const groups = changes.filter((change) => change.kind === "group");
  if (groups.length === 0) return [];
  const known = new Set(listGroupNotes(before));
  return [
    ...listGroupNotes(after).filter((note) => !known.has(note)),
    ...listReinterpretedMembers(before, after, groups),
    ...listUnknownMembers(snapshot, after, groups),
  ];
}

/** Lists members that change from a host name to a group name, or back. */
function listReinterpretedMembers(before: Groups, after: Groups, changes: readonly GroupChange[]): string[] {
  const turned = new Set(
    changes.filter(({ name }) => before.has(name) !== after.has(name)).map(({ name }) => name),
  );
  return [...after].flatMap(([name, members]) =>
    members
      .filter((member) => turned.has(member) && before.get(name)?.includes(member))
      .map((member) =>
        after.has(member)
          ? `member ${quoteText(member)} of group ${quoteText(name)} was a host; from now on it is the group`
          : `group ${quoteText(name)} still contains ${quoteText(member)}, which now counts as a host`,
      ),
  );
}

/** Lists new members that are neither a group nor a known host. */
function listUnknownMembers(
  { hosts }: Pick<Snapshot, "hosts">,
  after: Groups,
  changes: readonly GroupChange[],
): string[] {
  const seen = new Set([...hosts.keys()].map(canonicalizeHost));
  const added = changes.flatMap(({ before, after: now }) =>
    (now ?? []).filter((member) => before?.includes(member) !== true && !after.has(member)),
  );
  const unknown = [...new Set(added)].filter((member) => !seen.has(canonicalizeHost(member)));
  const notes = unknown.slice(0, MANY).map((member) => {
    const full = [...seen].find((host) => host.startsWith(`${canonicalizeHost(member)}.`));
    const hint = full === undefined ? "" : `; did you mean ${quoteText(full)}?`;
    return `${quoteText(member)} is neither a group nor a host that was ever seen${hint}`;
  });
  return unknown.length > MANY ? [...notes, `${unknown.length - MANY} more members are unknown`] : notes;
}
