import { differences } from "../../model/differences.ts";
import type { Picture, Room } from "../../model/picture.ts";
import { drainsOf, placesIn } from "../../model/scope.ts";
import { drainChanges } from "../../model/scope-text.ts";
import type { DrainTarget } from "../../protocol/drain.ts";
import { untouched } from "../../protocol/guards.ts";
import type { Compare } from "../../protocol/txn.ts";
import { revisionFlag } from "../flags.ts";
import { pictureThen } from "../look.ts";
import type { Call } from "../spec.ts";
import type { Desk } from "../with-store.ts";

const ROOMS: readonly Room[] = ["locks", "resources", "groups", "drains"];
/** Tickets that are compared one by one; of more, their rooms are: etcd takes 128 operations. */
const FEW = 60;

/**
 * What has happened in a scope since `--expect-revision`, or since an earlier picture, as sentences: drains, groups,
 * and the tickets in it.
 * @throws as `changesSince`
 */
export async function scopeChanges(
  call: Call,
  desk: Desk,
  picture: Picture,
  target: DrainTarget,
  earlier?: Picture,
): Promise<string[]> {
  const expected = revisionFlag(call, "expect-revision");
  if (expected === undefined && earlier === undefined) return [];
  const before = earlier ?? (await pictureThen(desk, ROOMS, expected ?? 0n, picture));
  return [
    ...drainChanges(drainsOf(before, target), drainsOf(picture, target)),
    ...(target.scope === "group" ? groupChanges(before, picture) : []),
    ...differences(placesIn(before, target), placesIn(picture, target)),
  ];
}

function groupChanges(before: Picture, after: Picture): string[] {
  const names = new Set([...before.groups.keys(), ...after.groups.keys()]);
  const isChanged = (name: string) =>
    before.groups.get(name)?.modRevision !== after.groups.get(name)?.modRevision;
  return [...names].filter(isChanged).map((name) => `group ${name} has changed`);
}

/**
 * What must still be as it was seen when a drain is put, beside the drains of the same thing: the groups that say whom
 * it hits; and with `--expect-revision` the tickets too.
 */
export function guardsOf(call: Call, { keys }: Desk, picture: Picture, target: DrainTarget): Compare[] {
  const notNewer = { target: "mod", is: "less", value: picture.revision + 1n } as const;
  const groups: Compare[] = target.scope === "group" ? [{ ...keys.groups(), ...notNewer }] : [];
  if (revisionFlag(call, "expect-revision") === undefined) return groups;
  const places = placesIn(picture, target);
  const { scope, name } = target;
  if (scope === "lock" || scope === "resource") return [{ ...keys.queue(scope, name), ...notNewer }];
  if (scope !== "all" && places.length <= FEW) return [...groups, ...untouched(places)];
  return [...groups, { ...keys.locks(), ...notNewer }, { ...keys.resources(), ...notNewer }];
}
