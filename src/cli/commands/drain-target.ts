import { UsageError } from "../../core/base/errors.ts";
import { canonicalizeHost, quoteText, suggestNearest } from "../../core/base/text.ts";
import type { DrainTarget } from "../../core/protocol/drain.ts";
import { DRAIN_ALL, DRAIN_SCOPES, type QueueKind } from "../../core/protocol/keys.ts";
import { validateName } from "../../core/protocol/names.ts";
import { findNamedQueue, type Snapshot } from "../../site/state/snapshot.ts";
import { readRecordedLocks } from "../frame/read-snapshot.ts";
import type { CommandContext } from "../frame/store-command.ts";
import { computeHostActivity, listKnownHosts } from "../views/hosts.ts";

/** Parses SCOPE and NAME. Host names are canonicalized. @throws UsageError */
export function parseDrainTarget([scopeGiven = "", name]: readonly string[]): DrainTarget {
  const scope = DRAIN_SCOPES.find((one) => one === scopeGiven);
  if (scope === undefined)
    throw new UsageError(`SCOPE must be one of ${DRAIN_SCOPES.join(", ")}; got ${quoteText(scopeGiven)}`);
  if (scope === "all") {
    if (name === undefined || name === DRAIN_ALL) return { scope, name: DRAIN_ALL };
    throw new UsageError(`SCOPE all takes no NAME; got ${quoteText(name)}`);
  }
  if (name === undefined) throw new UsageError(`NAME is missing: the name of the ${scope}`);
  const checked = validateName(scope, name);
  return { scope, name: scope === "host" ? canonicalizeHost(checked) : checked };
}

/**
 * Returns a warning if the name is unknown, since it may be a typing error. A drain for a future name is allowed.
 * @throws StoreError
 */
export async function findUnknownNameNote(
  context: CommandContext,
  snapshot: Snapshot,
  target: DrainTarget,
): Promise<string | undefined> {
  const { scope, name } = target;
  const known = await readKnownNames(context, snapshot, target);
  if (known === undefined || known.has(name)) return undefined;
  return `no ${scope} ${quoteText(name)} is known so far${suggestNearest(name, known)}`;
}

/**
 * Reads the known names of a scope.
 * @returns undefined if the name is in use, or if the scope needs no check
 */
async function readKnownNames(
  context: CommandContext,
  snapshot: Snapshot,
  { scope, name }: DrainTarget,
): Promise<Set<string> | undefined> {
  switch (scope) {
    case "lock":
      if (findNamedQueue(snapshot, "lock", name) !== undefined) return undefined;
      return new Set([...listQueueNames(snapshot, "lock"), ...(await readRecordedLocks(context))]);
    case "resource":
      return new Set([...listQueueNames(snapshot, "resource"), ...snapshot.resources.keys()]);
    case "host":
      return listHostNames(snapshot);
    default:
      return undefined;
  }
}

function listQueueNames(snapshot: Snapshot, kind: QueueKind): string[] {
  return [...snapshot.queues.values()].filter((queue) => queue.kind === kind).map(({ name }) => name);
}

function listHostNames(snapshot: Snapshot): Set<string> {
  return new Set([...listKnownHosts(snapshot), ...computeHostActivity(snapshot).keys()]);
}
