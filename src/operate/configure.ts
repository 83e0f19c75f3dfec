import type { ConfigChange } from "../fleet/config-changes.ts";
import { serializeGroup } from "../fleet/groups.ts";
import { serializeResourceConfig } from "../fleet/resources.ts";
import type { AuditAction } from "../protocol/audit.ts";
import { guardRevision } from "../protocol/guards.ts";
import type { Keys } from "../protocol/keys.ts";
import type { Op } from "../protocol/txn.ts";
import { type ActionResult, executeAction } from "./operator-action.ts";
import type { OperatorPorts } from "./ports.ts";

/** An existing configuration key, parseable or not. */
export interface ConfigKeyRevision {
  readonly kind: ConfigChange["kind"];
  readonly name: string;
  readonly modRevision: bigint;
  /** The source that owns a group. */
  readonly source?: string | undefined;
}

/** Changes of the configuration, based on what the operator has read. */
export interface ConfigUpdate {
  action: Extract<AuditAction, "group" | "resource">;
  target: string;
  outcome: string;
  reason?: string | undefined;
  changes: readonly ConfigChange[];
  /** The revision that the operator has read, and all configuration keys at that revision. */
  seen: bigint;
  keys: readonly ConfigKeyRevision[];
}

/**
 * Applies changes in one guarded transaction, with its audit record: all of them, or none.
 * @returns `changed` when a key to change differs from what was read
 * @throws SignalboxError 77; StoreError
 */
export async function applyConfigUpdate(ports: OperatorPorts, update: ConfigUpdate): Promise<ActionResult> {
  const { changes, keys: seen, ...rest } = update;
  const known = new Map(seen.map((one) => [buildConfigKey(ports.keys, one), one]));
  const findSeen = (change: ConfigChange) => known.get(buildConfigKey(ports.keys, change));
  return await executeAction(ports, {
    ...rest,
    compare: changes.map((change) =>
      guardRevision(buildConfigKey(ports.keys, change), findSeen(change)?.modRevision ?? 0n),
    ),
    ops: changes.map((change) => toOp(ports.keys, change, findSeen(change)?.source)),
  });
}

/** Builds the operation that writes a change. @param source  the one that owns the group; it stays unless the change has one */
export function toOp(keys: Keys, change: ConfigChange, source: string | undefined): Op {
  const key = buildConfigKey(keys, change);
  if (change.after === undefined) return { op: "delete", key };
  const value =
    change.kind === "group"
      ? serializeGroup(change.after, "source" in change ? change.source : source)
      : serializeResourceConfig(change.after);
  return { op: "put", key, value };
}

export function buildConfigKey(keys: Keys, { kind, name }: Pick<ConfigChange, "kind" | "name">): string {
  return kind === "group" ? keys.group(name) : keys.resourceConfig(name);
}
