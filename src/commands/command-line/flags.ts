import { parseDuration } from "../../base/duration.ts";
import { UsageError } from "../../base/errors.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { clean, quoteText } from "../../base/text.ts";
import type { FlagsOf, FlagTable } from "../spec.ts";

const CONFIRMATION_FLAGS = {
  "-n, --dry-run": "show what would change, and change nothing",
  "-y, --yes": "do not ask for confirmation",
  "--reason TEXT": "why; written to the audit, and shown to the runs it stops",
} satisfies FlagTable;
const RESULT_FLAGS = {
  "--strict": "exit with 1 if there is nothing to do",
  "--json": "print what was done as JSON",
} satisfies FlagTable;

/** Flags of every command that changes something. */
export const ACTION_FLAGS = {
  ...CONFIRMATION_FLAGS,
  "--expect-revision REVISION": "refuse if the target has changed since this revision (as printed by --json)",
  ...RESULT_FLAGS,
} satisfies FlagTable;
/** The same, for commands that do not compare with a revision. */
export const UNGUARDED_ACTION_FLAGS = { ...CONFIRMATION_FLAGS, ...RESULT_FLAGS } satisfies FlagTable;

/** Flags of every command that only shows something. */
export const JSON_FLAGS = { "--json": "as JSON" } satisfies FlagTable;

/** The flags of a command that shows something. */
export type JsonFlags = FlagsOf<typeof JSON_FLAGS>;

/** The flags of a command that acts. */
export type ActionFlags = FlagsOf<typeof ACTION_FLAGS>;

/** A command line with flags that have a value, or may have one. */
export interface TextCall<Name extends string> {
  flags: { readonly [N in Name]?: string | true };
}

/** Longest reason, in characters: it is stored in every ticket that it concerns. */
const LONGEST_REASON = 500;

/** Parses `--reason` into one line. @throws UsageError if it is empty or too long */
export function parseReasonFlag({
  flags: { reason: text },
}: {
  flags: { readonly reason?: string };
}): string | undefined {
  if (text === undefined) return undefined;
  const reason = clean(text).trim();
  if (reason === "") throw new UsageError("--reason must not be empty; give a reason, or leave --reason out");
  if (reason.length > LONGEST_REASON)
    throw new UsageError(`--reason must have at most ${LONGEST_REASON} characters; got ${reason.length}`);
  return reason;
}

/** Parses a duration into ms. @throws UsageError */
export function parseDurationFlag<Name extends string>(
  { flags }: TextCall<Name>,
  name: Name,
): number | undefined {
  const text = flags[name];
  if (typeof text !== "string") return undefined;
  const parsed = parseDuration(text);
  if ("fault" in parsed) throw new UsageError(`--${name}: ${parsed.fault}`);
  return parsed.value;
}

/** Largest number for a flag. */
const MOST = 999_999_999;

/** Parses a whole number from `least` to `MOST`. @throws UsageError */
export function parseCountFlag<Name extends string>(
  { flags }: TextCall<Name>,
  name: Name,
  least = 0,
): number | undefined {
  const text = flags[name];
  if (typeof text !== "string") return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least))
    throw new UsageError(`--${name} must be a whole number from ${least} to ${MOST}; got ${quoteText(text)}`);
  return value;
}

/** Parses a revision of etcd. @throws UsageError */
export function parseRevisionFlag<Name extends string>(
  { flags }: TextCall<Name>,
  name: Name,
): bigint | undefined {
  const text = flags[name];
  if (typeof text !== "string") return undefined;
  if (!/^[1-9]\d{0,18}$/.test(text))
    throw new UsageError(`--${name} must be a revision, such as 88140; got ${quoteText(text)}`);
  return BigInt(text);
}

/** Lists the given flags for a line to copy; flags not in `names` are left out. */
export function listGivenFlags<Name extends string>(
  { flags }: TextCall<Name>,
  names: readonly Name[],
): string[] {
  return names.flatMap((name) => {
    const value = flags[name];
    if (value === true) return [`--${name}`];
    return typeof value === "string" ? [`--${name}`, quoteShellWord(value)] : [];
  });
}
