import type { ConfigChange } from "../../fleet/changes.ts";
import { groupText } from "../../fleet/groups.ts";
import { resourceText } from "../../fleet/resources.ts";
import type { AuditAction } from "../../protocol/audit.ts";
import { sameRevision } from "../../protocol/guards.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { Compare, Op } from "../../protocol/txn.ts";
import { act, type Receipt } from "./act.ts";
import { FEW, inChunks } from "./chunks.ts";
import type { OperatorPorts } from "./ports.ts";

/** A key of the configuration that is there, or cannot be read. */
export interface SeenKey {
  readonly kind: ConfigChange["kind"];
  readonly name: string;
  readonly modRevision: bigint;
}

/** Changes of the configuration, as an operator saw it. */
export interface Configuring {
  action: Extract<AuditAction, "group" | "resource" | "import" | "edit">;
  target: string;
  outcome: string;
  reason?: string | undefined;
  changes: readonly ConfigChange[];
  /** Revision of what was seen, and all that was there. */
  seen: bigint;
  keys: readonly SeenKey[];
  /** Refuse when anything else in the configuration has changed too, and not only what the changes touch. */
  guardsAll: boolean;
}

/**
 * Applies changes in one guarded transaction, with its audit record: all of them, or none.
 *
 * A deletion leaves nothing that a comparison over a range could see. So where there are too many keys to compare one by
 * one, the audit is guarded as well: every change that signalbox makes is recorded there. That refuses for any other
 * action too; look again and try again.
 * @returns `changed` when the configuration is not what was seen, or with many keys, may not be
 * @throws SignalboxError 77; 78 where it is too much for one transaction; StoreError
 */
export async function configure(ports: OperatorPorts, deed: Configuring): Promise<Receipt> {
  const { changes, guardsAll, keys, ...rest } = deed;
  const ops = changes.map((change) => opFor(ports.keys, change));
  const compare = guardsAll ? wholeGuard(ports.keys, deed) : touchedGuard(ports.keys, deed);
  return await act(ports, { ...rest, compare, ops: inChunks(ops, (op) => roomOf(ports.keys, op)) });
}

function opFor(keys: Keys, change: ConfigChange): Op {
  const key = keyOf(keys, change);
  if (change.after === undefined) return { op: "delete", key };
  const value = change.kind === "group" ? groupText(change.after) : resourceText(change.after);
  return { op: "put", key, value };
}

function keyOf(keys: Keys, { kind, name }: Pick<ConfigChange, "kind" | "name">): string {
  return kind === "group" ? keys.group(name) : keys.resourceConfig(name);
}

/** What the changes touch is as it was seen. */
function touchedGuard(keys: Keys, { changes, keys: seen }: Configuring): Compare[] {
  const known = new Map(seen.map((one) => [keyOf(keys, one), one.modRevision]));
  return changes.map((change) => keyOf(keys, change)).map((key) => sameRevision(key, known.get(key) ?? 0n));
}

/** All of the configuration is as it was seen. */
function wholeGuard(keys: Keys, deed: Configuring): Compare[] {
  const notNewer = { target: "mod", is: "less", value: deed.seen + 1n } as const;
  const rooms: Compare[] = [keys.groups(), keys.resourceConfigs()].map((room) => ({ ...room, ...notNewer }));
  const standing = deed.keys.map((one) => sameRevision(keyOf(keys, one), one.modRevision));
  return standing.length <= FEW ? [...rooms, ...standing] : [...rooms, { ...keys.audits(), ...notNewer }];
}

function roomOf(keys: Keys, op: Op): string {
  return op.op === "put" || op.op === "delete" ? keys.parse(op.key).kind : "";
}
