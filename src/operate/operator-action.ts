import { formatKey } from "../base/bytes.ts";
import { EXIT, SignalboxError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import { StoreError } from "../etcd/store.ts";
import { commitWithRetries, type ObserverPorts, readWithRetries } from "../observe/ports.ts";
import {
  type AuditAction,
  type AuditRecord,
  generateAuditId,
  parseAuditRecord,
  serializeAuditRecord,
} from "../protocol/audit.ts";
import { guardRevision, guardUnchanged } from "../protocol/guards.ts";
import { checkSchema, getNewerSchemaRange, guardSchema } from "../protocol/schema.ts";
import {
  type Compare,
  findFirstKey,
  listKeys,
  type Op,
  type Txn,
  type TxnResponse,
} from "../protocol/txn.ts";
import type { OperatorPorts } from "./ports.ts";

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
const CHUNK = 50;

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
  for (let start = 0; start < entries.length; start += CHUNK) {
    const chunk = entries.slice(start, start + CHUNK);
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
/** An action that changes a site. */
export type SiteAction = (typeof SITE_ACTIONS)[number];

function isSiteAction(action: string): action is SiteAction {
  return SITE_ACTIONS.some((one) => one === action);
}
