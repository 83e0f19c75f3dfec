import { formatKey } from "../../core/base/bytes.ts";
import { EXIT, SignalboxError } from "../../core/base/errors.ts";
import { formatBytes } from "../../core/base/size.ts";
import { clean } from "../../core/base/text.ts";
import { guardRevision } from "../../core/protocol/guards.ts";
import type { KeyValue, Op } from "../../core/protocol/txn.ts";
import { type ActionResult, executeAction, type OperatorPorts } from "./operator-action.ts";

/** What changing keys of other programs needs from its environment. */
export interface EditPorts extends OperatorPorts {
  settings: OperatorPorts["settings"] & { allowEdit: boolean };
}

/** A change of one key of another program. Values are binary strings. */
interface KeyEdit {
  key: string;
  /** The new value; undefined to delete the key. */
  value: string | undefined;
  /** The key as the operator has read it; undefined if it did not exist. */
  before: KeyValue | undefined;
  /** The revision of that read. */
  seen: bigint;
  reason: string | undefined;
}

/** Longest key in an audit record, in characters. */
const LONGEST_TARGET = 1_000;

/** Checks that keys of other programs may be changed here. @throws SignalboxError 77 that says how to allow it */
export function checkEditAllowed({ settings: { allowEdit, readOnly } }: EditPorts): void {
  if (readOnly)
    throw new SignalboxError(EXIT.permission, "readOnly is set, nothing was changed; see: signalbox config");
  if (allowEdit) return;
  throw new SignalboxError(
    EXIT.permission,
    "keys of other programs may not be changed here: add --allow-edit to the command, or set allowEdit to true in the configuration of this context",
  );
}

/**
 * Puts or deletes a key that is as the operator has read it. A key with a lease keeps it. The record in the audit states sizes, not
 * values, because these may be secret.
 * @returns `changed` if the key has been written, created or deleted since it was read
 * @throws SignalboxError 77, StoreError; Error for a key of signalbox, which the caller must refuse
 */
export async function editKey(ports: EditPorts, edit: KeyEdit): Promise<ActionResult> {
  checkEditAllowed(ports);
  const { key, value, before, seen, reason } = edit;
  if (key.startsWith(ports.keys.prefix)) throw new Error("keys of signalbox are never edited");
  return await executeAction(ports, {
    action: value === undefined ? "delete" : "put",
    target: `key ${clean(formatKey(key), LONGEST_TARGET)}`,
    seen,
    reason,
    outcome: describeEdit(edit),
    compare: [guardRevision(key, before?.modRevision ?? 0n)],
    ops: [buildEdit(edit)],
  });
}

function buildEdit({ key, value, before }: KeyEdit): Op {
  if (value === undefined) return { op: "delete", key };
  const keepSession = before !== undefined && before.session !== 0n;
  return { op: "put", key, value, binaryValue: true, ...(keepSession && { keepSession }) };
}

/** Describes the sizes of the values before and after. */
export function describeEdit({ value, before }: Pick<KeyEdit, "value" | "before">): string {
  const old = before === undefined ? undefined : formatBytes(before.value.length);
  if (value === undefined) return `deleted, it had ${old}`;
  const now = formatBytes(value.length);
  return old === undefined ? `created with ${now}` : `changed from ${old} to ${now}`;
}
