import type { ConfigChange } from "../fleet/config-changes.ts";
import { serializeGroup } from "../fleet/groups.ts";
import { serializeResourceConfig } from "../fleet/resources.ts";
import type { AuditAction } from "../protocol/audit.ts";
import { guardNotNewer, guardRevision } from "../protocol/guards.ts";
import type { Keys } from "../protocol/keys.ts";
import type { Compare, Op } from "../protocol/txn.ts";
import { MAX_DIRECT_OPS, splitIntoChunks } from "./chunks.ts";
import { type ActionResult, executeAction } from "./operator-action.ts";
import type { OperatorPorts } from "./ports.ts";

/** An existing configuration key, parseable or not. */
export interface ConfigKeyRevision {
  readonly kind: ConfigChange["kind"];
  readonly name: string;
  readonly modRevision: bigint;
}

/** Changes of the configuration, based on what the operator has read. */
export interface ConfigUpdate {
  action: Extract<AuditAction, "group" | "resource" | "import" | "edit">;
  target: string;
  outcome: string;
  reason?: string | undefined;
  changes: readonly ConfigChange[];
  /** The revision that the operator has read, and all configuration keys at that revision. */
  seen: bigint;
  keys: readonly ConfigKeyRevision[];
  /** Whether to refuse when any part of the configuration has changed, and not only the keys to change. */
  guardsAll: boolean;
}

/**
 * Applies changes in one guarded transaction, with its audit record: all of them, or none.
 *
 * A deletion leaves nothing that a comparison over a range could detect. With too many keys to compare one by one, the
 * audit is therefore guarded as well, because it records every change that signalbox makes. This also refuses after any
 * other action; the operator must then read again and retry.
 * @returns `changed` when the configuration differs from what was read, or, with many keys, may differ
 * @throws SignalboxError 77; 78 when the changes exceed one transaction; StoreError
 */
export async function applyConfigUpdate(ports: OperatorPorts, update: ConfigUpdate): Promise<ActionResult> {
  const { changes, guardsAll, keys, ...rest } = update;
  const ops = changes.map((change) => toOp(ports.keys, change));
  const compare = guardsAll ? buildWholeGuard(ports.keys, update) : buildTouchedGuard(ports.keys, update);
  return await executeAction(ports, { ...rest, compare, ops: splitIntoChunks(ports.keys, ops) });
}

function toOp(keys: Keys, change: ConfigChange): Op {
  const key = buildConfigKey(keys, change);
  if (change.after === undefined) return { op: "delete", key };
  const value =
    change.kind === "group" ? serializeGroup(change.after) : serializeResourceConfig(change.after);
  return { op: "put", key, value };
}

function buildConfigKey(keys: Keys, { kind, name }: Pick<ConfigChange, "kind" | "name">): string {
  return kind === "group" ? keys.group(name) : keys.resourceConfig(name);
}

/** Compares the keys to change with what was read. */
function buildTouchedGuard(keys: Keys, { changes, keys: seen }: ConfigUpdate): Compare[] {
  const known = new Map(seen.map((one) => [buildConfigKey(keys, one), one.modRevision]));
  return changes
    .map((change) => buildConfigKey(keys, change))
    .map((key) => guardRevision(key, known.get(key) ?? 0n));
}

/** Compares the whole configuration with what was read. */
function buildWholeGuard(keys: Keys, update: ConfigUpdate): Compare[] {
  const rooms = guardNotNewer(update.seen, keys.groups(), keys.resourceConfigs());
  const unchanged = update.keys.map((one) => guardRevision(buildConfigKey(keys, one), one.modRevision));
  return unchanged.length <= MAX_DIRECT_OPS
    ? [...rooms, ...unchanged]
    : [...rooms, ...guardNotNewer(update.seen, keys.audits())];
}
