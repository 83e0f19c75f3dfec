import { UsageError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";

/**
 * Parses seconds as other tools accept them, with or without a fraction, and returns a duration for signalbox: `90s`,
 * `1500ms`.
 * @param subject  what the value belongs to, for the message
 * @throws UsageError for anything else
 */
export function parseSecondsAsDuration(text: string, subject: string): string {
  const value = /^(?:\d{1,9}(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) throw new UsageError(`${subject}: ${quoteText(text)} is not a number of seconds`);
  return Number.isInteger(value) ? `${value}s` : `${Math.max(1, Math.round(value * 1000))}ms`;
}
