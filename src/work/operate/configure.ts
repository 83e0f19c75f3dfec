import { EXIT, SignalboxError } from "../../base/errors.ts";
import type { ConfigChange } from "../../fleet/changes.ts";
import { groupText } from "../../fleet/groups.ts";
import { resourceText } from "../../fleet/resources.ts";
import type { AuditAction } from "../../protocol/audit.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { Compare, Op } from "../../protocol/txn.ts";
import { act, type Receipt } from "./act.ts";
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

/** Keys that are compared one by one: etcd takes 128 operations in a transaction. */
const FEW = 60;
/** Changes in one of the transactions that one transaction is made of: etcd counts the levels together. */
const CHUNK = 60;
/** Changes in one transaction: as many chunks as fit beside `CHUNK` operations in each. */
export const MOST_CHANGES = CHUNK * CHUNK;
/** Bytes in one transaction; etcd's own limit is 1.5 MiB (--max-request-bytes). */
const MOST_BYTES = 1_400_000;

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
  checkSize(ops);
  const compare = guardsAll ? wholeGuard(ports.keys, deed) : touchedGuard(ports.keys, deed);
  return await act(ports, { ...rest, compare, ops: inChunks(ops, changes) });
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
  return changes.map((change) => {
    const key = keyOf(keys, change);
    return { key, target: "mod", is: "equal", value: known.get(key) ?? 0n };
  });
}

/** All of the configuration is as it was seen. */
function wholeGuard(keys: Keys, deed: Configuring): Compare[] {
  const notNewer = { target: "mod", is: "less", value: deed.seen + 1n } as const;
  const rooms: Compare[] = [keys.groups(), keys.resourceConfigs()].map((room) => ({ ...room, ...notNewer }));
  const standing = deed.keys.map((one): Compare => {
    return { key: keyOf(keys, one), target: "mod", is: "equal", value: one.modRevision };
  });
  return standing.length <= FEW ? [...rooms, ...standing] : [...rooms, { ...keys.audits(), ...notNewer }];
}

/**
 * Older etcds check no permission inside a transaction within a transaction (GHSA-rfx7-8w68-q57q). So one change of each
 * room stands outside, where all of them check it: who may not write there is refused.
 */
function inChunks(ops: readonly Op[], changes: readonly ConfigChange[]): Op[] {
  if (ops.length <= FEW) return [...ops];
  const first = new Set(
    (["group", "resource"] as const).map((kind) => changes.findIndex((one) => one.kind === kind)),
  );
  const outside = ops.filter((_, index) => first.has(index));
  const inside = ops.filter((_, index) => !first.has(index));
  const chunks = Array.from({ length: Math.ceil(inside.length / CHUNK) }, (_, index) =>
    inside.slice(index * CHUNK, (index + 1) * CHUNK),
  );
  return [
    ...outside,
    ...chunks.map((success): Op => ({ op: "txn", txn: { compare: [], success, failure: [] } })),
  ];
}

function checkSize(ops: readonly Op[]): void {
  const bytes = ops.reduce((sum, op) => sum + weight(op), 0);
  if (ops.length <= MOST_CHANGES && bytes <= MOST_BYTES) return;
  throw new SignalboxError(
    EXIT.config,
    `nothing was done: ${ops.length} changes of ${bytes} bytes are too much for one transaction of etcd ` +
      `(${MOST_CHANGES} changes, ${MOST_BYTES} bytes); import it in parts`,
  );
}

function weight(op: Op): number {
  return op.op === "put" ? op.key.length + Buffer.byteLength(op.value) : 0;
}
