import { shellWord } from "../../base/shell.ts";
import { quoted } from "../../base/text.ts";
import { patiently } from "../../work/observe/ports.ts";
import type { Change } from "../../work/schedule/amend.ts";
import type { Desk } from "../with-store.ts";

/** More groups than this are not asked for: etcd takes 128 reads in a transaction. */
const MOST = 100;

/** A note for each group that changed schedules name and that is not there: no worker runs them until it is. */
export async function groupNotes(desk: Desk, changes: readonly Change[]): Promise<string[]> {
  const named = changes.flatMap(({ before, definition }) =>
    definition?.group === undefined || definition.group === before.definition?.group
      ? []
      : [definition.group],
  );
  const groups = [...new Set(named)].slice(0, MOST);
  if (groups.length === 0) return [];
  const isThere = await present(desk, groups);
  return groups
    .filter((_, index) => isThere[index] === false)
    .map(
      (group) =>
        `there is no group ${quoted(group)}: nothing runs until there is (signalbox group set ${shellWord(group)} HOST)`,
    );
}

/** Nothing is said where it cannot be known: a role may be allowed schedules and no groups. */
async function present({ store, keys, ...desk }: Desk, groups: readonly string[]): Promise<boolean[]> {
  const success = groups.map((group) => ({ op: "range", key: keys.group(group) }) as const);
  const read = (call: AbortSignal) => store.txn({ compare: [], success, failure: [] }, call);
  const answer = await patiently({ store, keys, ...desk }, read, desk.signal).catch(() => undefined);
  return answer?.results.map((result) => result.op === "range" && result.kvs.length > 0) ?? [];
}
