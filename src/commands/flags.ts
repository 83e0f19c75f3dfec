import { parseDuration } from "../base/duration.ts";
import { UsageError } from "../base/errors.ts";
import { clean, quoted } from "../base/text.ts";
import type { Call, Flag } from "./spec.ts";

/** Flags of every command that changes something, beside its own. */
export const ACTING: readonly Flag[] = [
  { name: "dry-run", short: "n", help: "show what it would do, change nothing" },
  { name: "yes", short: "y", help: "do not ask" },
  { name: "reason", value: "TEXT", help: "why; kept in the audit, and shown to those it stops" },
  {
    name: "expect-revision",
    value: "REVISION",
    help: "refuse if anything it touches has changed since this revision (as --json shows it)",
  },
  { name: "strict", help: "finding nothing to do is an error (exit 1)" },
  { name: "json", help: "say what was done as JSON" },
];

/** The value of a flag that was given once; undefined where it was not. */
export function textFlag({ flags }: Pick<Call, "flags">, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" ? value : undefined;
}

/** Longest reason, in characters: it is put into every ticket it is about. */
const LONGEST_REASON = 500;

/** Why, in one line. @throws UsageError when it is empty or longer than a ticket should carry */
export function reasonFlag(call: Pick<Call, "flags">): string | undefined {
  const text = textFlag(call, "reason");
  if (text === undefined) return undefined;
  const reason = clean(text).trim();
  if (reason === "") throw new UsageError("--reason: it is empty; say why, or leave it out");
  if (reason.length > LONGEST_REASON)
    throw new UsageError(`--reason: it has ${reason.length} characters, ${LONGEST_REASON} are allowed`);
  return reason;
}

/** The values of a repeatable flag. */
export function listFlag({ flags }: Pick<Call, "flags">, name: string): readonly string[] {
  const value = flags[name];
  return Array.isArray(value) ? value : [];
}

/** Milliseconds. @throws UsageError */
export function durationFlag(call: Pick<Call, "flags">, name: string): number | undefined {
  const text = textFlag(call, name);
  if (text === undefined) return undefined;
  const parsed = parseDuration(text);
  if ("fault" in parsed) throw new UsageError(`--${name}: ${parsed.fault}`);
  return parsed.value;
}

/** A whole number from `least` on. @throws UsageError */
export function countFlag(call: Pick<Call, "flags">, name: string, least = 0): number | undefined {
  const text = textFlag(call, name);
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least))
    throw new UsageError(`--${name}: ${quoted(text)} is not a whole number from ${least} on`);
  return value;
}

/** A revision of etcd. @throws UsageError */
export function revisionFlag(call: Pick<Call, "flags">, name: string): bigint | undefined {
  const text = textFlag(call, name);
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,18}$/.test(text))
    throw new UsageError(`--${name}: ${quoted(text)} is not a revision, such as 88140`);
  return BigInt(text);
}
