import { parseDuration } from "../../../core/base/clock.ts";
import { UsageError } from "../../../core/base/errors.ts";
import { clean, quoteText } from "../../../core/base/text.ts";

/**
 * Converts the text of a flag to its value. @param flag  with dashes, for messages. @returns undefined if the text counts
 * as not given. @throws UsageError
 */
export type ValueParser<T> = (text: string, flag: string) => T;

/** Parsers of the values whose name in the spelling of a flag says what they are. Other values are texts by default. */
export const VALUE_PARSERS = {
  /** In ms. */
  DURATION: parseMilliseconds,
  AGE: parseMilliseconds,
  REVISION: parseRevision,
};

/** Parses a duration into ms. @throws UsageError */
function parseMilliseconds(text: string, flag: string): number {
  const parsed = parseDuration(text);
  if ("fault" in parsed) throw new UsageError(`${flag}: ${parsed.fault}`);
  return parsed.value;
}

/** Parses a revision of etcd. @throws UsageError */
function parseRevision(text: string, flag: string): bigint {
  if (/^[1-9]\d{0,18}$/.test(text)) return BigInt(text);
  throw new UsageError(`${flag} must be a revision, such as 88140; got ${quoteText(text)}`);
}

export function createCountParser(least: number, most = 999_999_999): ValueParser<number> {
  return (text, flag) => {
    const value = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new UsageError(`${flag} must be a whole number from ${least} to ${most}; got ${quoteText(text)}`);
  };
}

/** Longest reason, in characters: it is stored in every ticket that it concerns. */
const LONGEST_REASON = 500;

/** Parses `--reason` into one line. @throws UsageError if it is empty or too long */
export function parseReason(text: string): string {
  const reason = clean(text).trim();
  if (reason === "") throw new UsageError("--reason must not be empty; give a reason, or leave --reason out");
  if (reason.length > LONGEST_REASON)
    throw new UsageError(`--reason must have at most ${LONGEST_REASON} characters; got ${reason.length}`);
  return reason;
}
