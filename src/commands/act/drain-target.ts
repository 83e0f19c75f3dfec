import { UsageError } from "../../base/errors.ts";
import { nearest, quoted } from "../../base/text.ts";
import { canonicalHost } from "../../fleet/groups.ts";
import { membersOf, type Picture, queueIn } from "../../model/picture.ts";
import type { DrainTarget } from "../../protocol/drain.ts";
import { DRAIN_ALL, DRAIN_SCOPES, type QueueKind } from "../../protocol/keys.ts";
import { checkedName } from "../../protocol/names.ts";
import { readAll } from "../../work/observe/read.ts";
import type { Desk } from "../with-store.ts";

/** What SCOPE and NAME mean. Hosts are written as they are compared. @throws UsageError */
export function targetOf([scopeGiven = "", name]: readonly string[]): DrainTarget {
  const scope = DRAIN_SCOPES.find((one) => one === scopeGiven);
  if (scope === undefined)
    throw new UsageError(`SCOPE ${quoted(scopeGiven)} is none of ${DRAIN_SCOPES.join(", ")}`);
  if (scope === "all") {
    if (name === undefined || name === DRAIN_ALL) return { scope, name: DRAIN_ALL };
    throw new UsageError(`all is everything; ${quoted(name)} was not expected`);
  }
  if (name === undefined) throw new UsageError(`NAME is missing: which ${scope}?`);
  const checked = checkedName(scope, name);
  return { scope, name: scope === "host" ? canonicalHost(checked) : checked };
}

/**
 * A word of warning where nobody knows a name: it may be a typing error. A drain of what is still to come is none.
 * @throws StoreError
 */
export async function unknownNote(
  desk: Desk,
  picture: Picture,
  target: DrainTarget,
): Promise<string | undefined> {
  const { scope, name } = target;
  const known = await knownNames(desk, picture, target);
  if (known === undefined || known.has(name)) return undefined;
  const meant = nearest(name, known);
  const hint = meant === undefined ? "" : `; did you mean ${quoted(meant)}?`;
  return `note: no ${scope} ${quoted(name)} is known so far${hint}`;
}

/** Names in a scope; undefined where the name asked for is plainly one of them, or needs none. */
async function knownNames(
  desk: Desk,
  picture: Picture,
  { scope, name }: DrainTarget,
): Promise<Set<string> | undefined> {
  switch (scope) {
    case "lock":
      if (queueIn(picture, "lock", name) !== undefined) return undefined;
      return new Set([...queueNames(picture, "lock"), ...(await finishedLocks(desk))]);
    case "resource":
      return new Set([...queueNames(picture, "resource"), ...picture.resources.keys()]);
    case "host":
      return hostNames(picture);
    default:
      return undefined;
  }
}

function queueNames(picture: Picture, kind: QueueKind): string[] {
  return [...picture.queues.values()].filter((queue) => queue.kind === kind).map(({ name }) => name);
}

/** Locks that have a history. */
async function finishedLocks(desk: Desk): Promise<string[]> {
  const kvs = await readAll(desk, desk.keys.histories(), { keysOnly: true, signal: desk.signal });
  return kvs.flatMap(({ key }) => {
    const parsed = desk.keys.parse(key);
    return parsed.kind === "history" ? [parsed.name] : [];
  });
}

function hostNames(picture: Picture): Set<string> {
  const groups = membersOf(picture);
  const members = [...groups.values()].flat().filter((member) => !groups.has(member));
  const places = [...picture.queues.values()].flatMap((queue) => queue.places);
  const running = places.flatMap(({ ticket }) => (ticket === undefined ? [] : [ticket.host]));
  return new Set([...picture.hosts.keys(), ...members, ...running].map(canonicalHost));
}
