import type { Random } from "../base/random.ts";

/** What operators do that changes anything. */
export const AUDIT_ACTIONS = [
  "reset",
  "release",
  "drain",
  "undrain",
  "group",
  "resource",
  "import",
  "edit",
  "prune",
  "schedule",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** One action of an operator, under `audit/<id>`. */
export interface AuditRecord {
  /** Time-ordered: ids of later actions sort behind. */
  id: string;
  /** Wall clock of the operator's host, ms since the epoch. */
  at: number;
  user: string;
  host: string;
  /** Who became `user` by sudo. */
  sudoUser?: string;
  action: AuditAction;
  /** What it was done to: `lock invoices`, `host web1.example.com`, `all`, `run 3f…`. */
  target: string;
  /** Revision of the picture that the operator saw. */
  seen: bigint;
  reason?: string;
  /** What became of it, in words; put again when that is known only later. */
  outcome: string;
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // in the order of bytes
const TIME_LENGTH = 10;

/**
 * An id that sorts by time.
 * @param wall  wall clock, ms since the epoch, below 2^50
 */
export function newAuditId(wall: number, random: Random): string {
  const chance = Array.from(random.bytes(10), (byte) => ALPHABET[byte % 32]).join("");
  return auditTime(wall) + chance;
}

/** The part of an id that tells the time; ids of earlier actions sort before it. */
export function auditTime(wall: number): string {
  let rest = Math.max(0, Math.floor(wall));
  let text = "";
  for (let digit = 0; digit < TIME_LENGTH; digit += 1) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** The value of a record's key; the id is the key's name. */
export function auditText({ id: _, seen, ...record }: AuditRecord): string {
  return JSON.stringify({ v: 1, ...record, seen: String(seen) });
}

/** A record, or undefined where the value is none of ours. */
export function auditOf(id: string, text: string): AuditRecord | undefined {
  const value = record(text);
  const action = AUDIT_ACTIONS.find((one) => one === value.action);
  const { user, host, target, outcome, at, seen, reason, sudoUser } = value;
  if (action === undefined || !Number.isFinite(at) || !isRevision(seen)) return undefined;
  if (![user, host, target, outcome].every((one) => typeof one === "string")) return undefined;
  return {
    ...{ id, action, at: at as number, seen: BigInt(seen) },
    ...{ user: user as string, host: host as string, target: target as string, outcome: outcome as string },
    ...(typeof reason === "string" && { reason }),
    ...(typeof sudoUser === "string" && { sudoUser }),
  };
}

function isRevision(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,19}$/.test(value);
}

function record(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
