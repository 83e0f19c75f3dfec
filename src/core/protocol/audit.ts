import type { WallTime } from "../base/clock.ts";
import { parseObject } from "../base/parse-json.ts";
import type { Random } from "../base/random.ts";

/** Operator actions that are recorded in the audit log. */
export const AUDIT_ACTIONS = [
  "reset",
  "drain",
  "undrain",
  "group",
  "resource",
  "apply",
  "import",
  "edit",
  "prune",
  "schedule",
  "calendar",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** One operator action, stored under `audit/<id>`. */
export interface AuditRecord {
  /** Sorts by time: later actions have greater ids. */
  id: string;
  /** Wall clock of the operator's host. */
  at: WallTime;
  user: string;
  host: string;
  /** The user who called sudo to become `user`. */
  sudoUser?: string;
  action: AuditAction;
  /** The target: `lock invoices`, `host web1.example.com`, `all`, `run 3f…`. */
  target: string;
  /** Revision of the snapshot that was shown to the operator. */
  seen: bigint;
  reason?: string;
  /** The outcome as text. The record is written again if the outcome is only known later. */
  outcome: string;
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // in byte order
const TIME_LENGTH = 10;

/** Generates an id that sorts by time. @param wall  below 2^50 */
export function generateAuditId(wall: WallTime, random: Random): string {
  const chance = Array.from(random.generateBytes(10), (byte) => ALPHABET[byte % 32]).join("");
  return formatAuditTime(wall) + chance;
}

/** Formats the time part of an id. Ids of earlier actions sort before it. */
export function formatAuditTime(wall: WallTime): string {
  let rest = Math.max(0, Math.floor(wall));
  let text = "";
  for (let digit = 0; digit < TIME_LENGTH; digit += 1) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Returns the time in an id; undefined if it is not one. */
export function parseAuditTime(id: string): WallTime | undefined {
  const digits = [...id.slice(0, TIME_LENGTH)].map((letter) => ALPHABET.indexOf(letter));
  if (digits.length < TIME_LENGTH || digits.includes(-1)) return undefined;
  return digits.reduce((time, digit) => time * 32 + digit, 0);
}

/** Serializes a record for its key. The id is not part of the value: it is the name in the key. */
export function serializeAuditRecord({ id: _, seen, ...record }: AuditRecord): string {
  return JSON.stringify({ v: 1, ...record, seen: String(seen) });
}

/** Parses a record. Returns undefined if the value is not a valid audit record. */
export function parseAuditRecord(id: string, text: string): AuditRecord | undefined {
  const value = parseObject(text);
  const action = AUDIT_ACTIONS.find((known) => known === value.action);
  const { user, host, target, outcome, at, seen, reason, sudoUser } = value;
  if (action === undefined || !Number.isFinite(at) || !isRevision(seen)) return undefined;
  if (![user, host, target, outcome].every((text) => typeof text === "string")) return undefined;
  return {
    id,
    action,
    at: at as number,
    seen: BigInt(seen),
    user: user as string,
    host: host as string,
    target: target as string,
    outcome: outcome as string,
    ...(typeof reason === "string" && { reason }),
    ...(typeof sudoUser === "string" && { sudoUser }),
  };
}

function isRevision(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,19}$/.test(value);
}
