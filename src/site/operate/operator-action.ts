import { formatKey } from "../../core/base/bytes.ts";
import { EXIT, SignalboxError, TooLargeError } from "../../core/base/errors.ts";
import { quoteText } from "../../core/base/text.ts";
import { StoreError } from "../../core/etcd/store.ts";
import {
  type AuditAction,
  type AuditRecord,
  generateAuditId,
  parseAuditRecord,
  serializeAuditRecord,
} from "../../core/protocol/audit.ts";
import { guardRevision, guardUnchanged } from "../../core/protocol/guards.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import { checkSchema, getNewerSchemaRange, guardSchema } from "../../core/protocol/schema.ts";
import {
  type Compare,
  findFirstKey,
  listKeys,
  type Op,
  type Txn,
  type TxnResponse,
} from "../../core/protocol/txn.ts";
import { commitWithRetries, type ObserverPorts, readWithRetries } from "../observe/ports.ts";

/** What changing etcd needs from its environment. */
export interface OperatorPorts extends ObserverPorts {
  settings: ObserverPorts["settings"] & { readOnly: boolean };
  operator: Operator;
}

/** The person who acts, as stored in the audit. */
export interface Operator {
  user: string;
  host: string;
  /** The user who became `user` with sudo. */
  sudoUser?: string;
}

/** Formats an operator as one word, for tickets and drains. */
export function formatOperator({ user, host, sudoUser }: Operator): string {
  return `${sudoUser ?? user}@${host}`;
}

/** One action of an operator: a guarded change and its audit record. */
export interface OperatorAction {
  action: AuditAction;
  /** The target, as in `AuditRecord`. */
  target: string;
  /** Revision that the operator has read. */
  seen: bigint;
  reason?: string | undefined;
  /** The outcome to record if the action succeeds. */
  outcome: string;
  /** Conditions that must still hold since the operator has read the state. */
  compare: readonly Compare[];
  ops: readonly Op[];
  /** Takes the place of the audit record. */
  receipt?: Receipt | undefined;
}

/**
 * A key that the actions of a program write one after the other, in place of an audit record for each: the value names the
 * last one, and each action compares the key with what the one before has written. So no copy of an earlier action can be
 * applied, and a repeated call detects that it was, also if its other keys are gone.
 */
export interface Receipt {
  key: string;
  /** With which it expires: it must live much longer than a call that has lost its answer. */
  session: bigint;
  /** As the action before has left it; 0n at first. */
  modRevision: bigint;
}

/**
 * The result of an action. `done`: the revision is that of the written keys. `changed`: the state has changed since the
 * operator read it, and nothing was written.
 */
export type ActionResult =
  | { kind: "done"; record: AuditRecord; revision: bigint }
  | { kind: "changed"; revision: bigint };

/**
 * Executes an action and appends its audit record in one transaction, so every action has a record, and every record an
 * action. The record's key is new for every action; a repeated call detects by it that an earlier copy was applied. The
 * jobs that programs add have a receipt instead.
 * @throws SignalboxError 77 when the operator lacks permission, ConfigError when this program is too old, StoreError
 */
export async function executeAction(
  ports: OperatorPorts,
  operatorAction: OperatorAction,
): Promise<ActionResult> {
  if (ports.settings.readOnly) {
    throw new SignalboxError(EXIT.permission, "readOnly is set, nothing was changed; see: signalbox config");
  }
  const at = ports.clock.getWallTime();
  const { action, target, seen, reason, outcome } = operatorAction;
  const record: AuditRecord = {
    id: generateAuditId(at, ports.random),
    at,
    ...ports.operator,
    action,
    target,
    seen,
    outcome,
    ...(reason !== undefined && { reason }),
  };
  const txn = buildAuditedTxn(ports, operatorAction, record);
  const answer = await commitWithRetries(ports, txn).catch((error: unknown) => {
    throw explainPermissionError(ports, txn, error);
  });
  const earlier = findEarlierCopy(operatorAction, record, answer);
  const { revision } = answer;
  if (answer.succeeded || earlier !== undefined)
    return { kind: "done", record, revision: earlier ?? revision };
  checkSchema(ports.keys, listKeys(answer.results[1]));
  return { kind: "changed", revision };
}

/** Returns the revision at which a copy of this action was applied whose answer was lost. */
function findEarlierCopy(
  { receipt }: OperatorAction,
  record: AuditRecord,
  { results }: TxnResponse,
): bigint | undefined {
  const found = findFirstKey(results[0]);
  if (receipt === undefined) return found?.createRevision;
  return found?.value === record.id ? found.modRevision : undefined;
}

/** Entries changed in one transaction: together with the comparisons, fewer than etcd's 128 operations. */
const CHANGED_TOGETHER = 50;

/**
 * Executes an action on entries that must be as they were read, a limited number in each transaction.
 * @returns `changed` as soon as an entry differs from what was read; undefined when there are none
 * @throws as `executeAction`
 */
export async function executeInChunks<T extends { key: string; modRevision: bigint }>(
  ports: OperatorPorts,
  operatorAction: Omit<OperatorAction, "ops">,
  entries: readonly T[],
  buildOps: (chunk: readonly T[]) => readonly Op[],
): Promise<ActionResult | undefined> {
  let receipt: ActionResult | undefined;
  for (let start = 0; start < entries.length; start += CHANGED_TOGETHER) {
    const chunk = entries.slice(start, start + CHANGED_TOGETHER);
    receipt = await executeAction(ports, {
      ...operatorAction,
      compare: [...guardUnchanged(chunk), ...operatorAction.compare],
      ops: buildOps(chunk),
    });
    if (receipt.kind === "changed") return receipt;
  }
  return receipt;
}

function buildAuditedTxn({ keys }: OperatorPorts, operatorAction: OperatorAction, record: AuditRecord): Txn {
  const { receipt } = operatorAction;
  const key = receipt?.key ?? keys.audit(record.id);
  const put: Op =
    receipt === undefined
      ? { op: "put", key, value: serializeAuditRecord(record) }
      : { op: "put", key, value: record.id, session: receipt.session };
  return {
    compare: [guardRevision(key, receipt?.modRevision ?? 0n), guardSchema(keys), ...operatorAction.compare],
    success: [put, ...operatorAction.ops],
    failure: [
      { op: "range", key },
      { op: "range", ...getNewerSchemaRange(keys), keysOnly: true },
    ],
  };
}

/** Updates the outcome of a record when it becomes known later. */
export async function updateAuditOutcome(
  ports: OperatorPorts,
  record: AuditRecord,
  outcome: string,
): Promise<void> {
  const key = ports.keys.audit(record.id);
  const value = serializeAuditRecord({ ...record, outcome });
  const stands = { key, target: "create", is: "greater", value: 0n } as const; // it may have been pruned
  const txn: Txn = { compare: [stands], success: [{ op: "put", key, value }], failure: [] };
  await commitWithRetries(ports, txn);
}

/** Names the missing permissions. @returns other errors unchanged */
function explainPermissionError(ports: OperatorPorts, txn: Txn, error: unknown): unknown {
  if (!(error instanceof StoreError) || error.kind !== "permission") return error;
  const rooms = listWrittenCollections(ports, txn).join(", ");
  const others = listWrittenKeys(txn).filter((key) => !key.startsWith(ports.keys.prefix));
  const own = `readwrite on ${rooms} (as prefixes), which the role signalbox-operator of docs/etcd.md has`;
  const foreign = others.map((key) => `, and readwrite on the key ${quoteText(formatKey(key))}`).join("");
  return new SignalboxError(
    EXIT.permission,
    `etcd refused the permission, nothing was changed: this needs ${own}${foreign}`,
    { cause: error },
  );
}

/** Lists the prefixes of signalbox that a transaction writes to. */
function listWrittenCollections({ keys }: OperatorPorts, txn: Txn): string[] {
  const own = listWrittenKeys(txn).filter((key) => key.startsWith(keys.prefix));
  const rooms = own.map((key) => /^(?:config\/)?[^/]*\//.exec(key.slice(keys.prefix.length))?.[0] ?? "");
  return [...new Set(rooms)].map((room) => keys.prefix + room);
}

function listWrittenKeys({ success }: Txn): string[] {
  return success.flatMap((op) =>
    op.op === "txn" ? listWrittenKeys(op.txn) : op.op === "range" ? [] : [op.key],
  );
}

/** Number of records to read, newest first. */
const MAX_RECORDS = 50;

/** Returns the changes of a site after a revision, newest first, as far as the last audit records show them. */
export async function readAuditSince(ports: ObserverPorts, since: bigint): Promise<AuditRecord[]> {
  const range = {
    ...ports.keys.audits(),
    sort: { by: "mod", order: "descend" } as const,
    limit: MAX_RECORDS,
  };
  const { kvs } = await readWithRetries(ports, range);
  return kvs.flatMap(({ key, value, modRevision }) => {
    const parsed = ports.keys.parse(key);
    const record =
      parsed.kind === "audit" && modRevision > since ? parseAuditRecord(parsed.name, value) : undefined;
    return record !== undefined && isSiteAction(record.action) ? [record] : [];
  });
}

const SITE_ACTIONS = ["group", "resource", "calendar", "schedule", "apply", "import", "edit"] as const;
export type SiteAction = (typeof SITE_ACTIONS)[number];

function isSiteAction(action: string): action is SiteAction {
  return SITE_ACTIONS.some((one) => one === action);
}

/** Largest number of direct operations, or of keys compared one by one, in a transaction: etcd accepts 128. */
export const MAX_DIRECT_OPS = 60;
/** Changes in one nested transaction: etcd counts the operations of all levels together. */
const MAX_NESTED_CHANGES = 60;
/** Changes in one transaction: as many chunks as fit besides `MAX_NESTED_CHANGES` operations in each. */
export const MAX_CHANGES = MAX_NESTED_CHANGES * MAX_NESTED_CHANGES;
/** Size of one transaction in bytes; etcd's own limit is 1.5 MiB (--max-request-bytes). */
export const MAX_BYTES = 1_400_000;

/**
 * Distributes any number of operations over nested transactions of one transaction.
 *
 * Older versions of etcd do not check permissions inside nested transactions (GHSA-rfx7-8w68-q57q). One change of each
 * collection therefore stays at the top level, which all versions check: they refuse a user without write permission
 * there.
 * @throws TooLargeError when the changes exceed one transaction
 */
export function splitIntoChunks(keys: Keys, ops: readonly Op[]): Op[] {
  checkSize(ops);
  if (ops.length <= MAX_DIRECT_OPS) return [...ops];
  const rooms = new Set<string>();
  const isFirst = (op: Op) => {
    const room = getCollection(keys, op);
    return !rooms.has(room) && rooms.add(room) !== undefined;
  };
  const outside = new Set(ops.filter(isFirst));
  const inside = ops.filter((op) => !outside.has(op));
  const chunks = Array.from({ length: Math.ceil(inside.length / MAX_NESTED_CHANGES) }, (_, index) =>
    inside.slice(index * MAX_NESTED_CHANGES, (index + 1) * MAX_NESTED_CHANGES),
  );
  return [
    ...outside,
    ...chunks.map((success): Op => ({ op: "txn", txn: { compare: [], success, failure: [] } })),
  ];
}

function getCollection(keys: Keys, op: Op): string {
  return op.op === "put" || op.op === "delete" ? keys.parse(op.key).kind : "";
}

function checkSize(ops: readonly Op[]): void {
  const bytes = ops.reduce((sum, op) => sum + computeBytes(op), 0);
  if (ops.length <= MAX_CHANGES && bytes <= MAX_BYTES) return;
  throw new TooLargeError(
    `nothing was changed: ${ops.length} changes of ${bytes} bytes exceed the limits of one transaction ` +
      `(${MAX_CHANGES} changes, ${MAX_BYTES} bytes); make them in parts, or with less data`,
  );
}

/** Returns the size of an operation in a transaction, in bytes. */
export function computeBytes(op: Op): number {
  return op.op === "put" ? op.key.length + Buffer.byteLength(op.value) : 0;
}
