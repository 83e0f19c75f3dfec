import { type ParseResult, quoteText } from "./text.ts";

const SIZE_UNITS: Readonly<Record<string, number>> = { "": 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };
const SIZE_PATTERN = /^(\d{1,9})([KMG]?)(?:i?B)?$/;
/** A larger size is a typing error. */
const MAX_SIZE_BYTES = 64 * 1024 ** 3;

/** Parses a size in bytes: `512K`, `1M`, `2GiB`. The units are powers of 1,024. */
export function parseSize(text: string): ParseResult<number> {
  const [, digits = "", unit = ""] = SIZE_PATTERN.exec(text) ?? [];
  if (digits === "") return { fault: `${quoteText(text)} is not a size; write it as 512K, 1M or 2G` };
  const value = Number(digits) * (SIZE_UNITS[unit] ?? 1);
  return value > MAX_SIZE_BYTES ? { fault: `${quoteText(text)} is larger than 64G` } : { value };
}

/** Formats a size as `parseSize` reads it. */
export function formatSize(bytes: number): string {
  const largest =
    (["G", "M", "K"] as const).find((unit) => bytes > 0 && bytes % (SIZE_UNITS[unit] ?? 1) === 0) ?? "";
  return `${bytes / (SIZE_UNITS[largest] ?? 1)}${largest}`;
}

/** Formats a size, for example `28 KiB` or `1.4 GiB`. */
export function formatBytes(bytes: number): string {
  if (bytes === 1) return "1 byte";
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/**
 * Maximum length of a value that is read as a history or a host record, in UTF-16 code units. signalbox writes at most a
 * tenth of that there, but users of the runner role can write up to etcd's limit of 1.5 MB to each key.
 */
export const LONGEST_VALUE = 256 * 1024;
