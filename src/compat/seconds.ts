import { UsageError } from "../base/errors.ts";
import { quoted } from "../base/text.ts";

/**
 * Seconds as other tools take them, with or without a fraction, as a duration of ours: `90s`, `1500ms`.
 * @param of  what the value belongs to, for the message
 * @throws UsageError for anything else
 */
export function seconds(text: string, of: string): string {
  const value = /^(?:\d{1,9}(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) throw new UsageError(`${of}: ${quoted(text)} is not a number of seconds`);
  return Number.isInteger(value) ? `${value}s` : `${Math.max(1, Math.round(value * 1000))}ms`;
}
