import { isUtf8 } from "node:buffer";
import { UsageError } from "../../core/base/errors.ts";
import { quoteText } from "../../core/base/text.ts";

const MASK_TEXT = "***";
/** A longer line is masked in pieces of this many bytes. */
const MAX_LINE_BYTES = 16 * 1024;

/** Parses `--mask`. @throws UsageError */
export function parseMasks(patterns: readonly string[]): RegExp[] {
  return patterns.map((pattern) => {
    try {
      if (!new RegExp(pattern, "gu").test("")) return new RegExp(pattern, "gu");
    } catch (cause) {
      throw new UsageError(
        `--mask: ${quoteText(pattern)} is not a regular expression: ${(cause as Error).message}`,
      );
    }
    throw new UsageError(
      `--mask: ${quoteText(pattern)} matches the empty text; write what the secret looks like`,
    );
  });
}

/** Builds masks for texts that must not appear. */
export function buildSecretMasks(secrets: readonly string[]): RegExp[] {
  return secrets.map((secret) => new RegExp(secret.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "gu"));
}

/** Replaces secrets in one stream of bytes. A line is passed on when it is complete. */
export class OutputMask {
  readonly #masks: readonly RegExp[];
  readonly #removed: RegExp | undefined;
  #rest: Buffer = Buffer.alloc(0);

  /** @param removed  what is not output, and is removed */
  constructor(masks: readonly RegExp[], removed?: RegExp) {
    this.#masks = masks;
    this.#removed = removed;
  }

  /** @returns what can be passed on now */
  take(chunk: Buffer): Buffer {
    if (this.#masks.length === 0 && this.#removed === undefined) return chunk;
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let end = bytes.lastIndexOf(10) + 1;
    while (bytes.length - end > MAX_LINE_BYTES) end += MAX_LINE_BYTES;
    this.#rest = bytes.subarray(end);
    return this.#maskBytes(bytes.subarray(0, end));
  }

  /** @returns the last line, if it is not complete */
  end(): Buffer {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return this.#maskBytes(rest);
  }

  /** Output that is not UTF-8 is taken as bytes, so that it stays what it is. */
  #maskBytes(bytes: Buffer): Buffer {
    if (bytes.length === 0) return bytes;
    const encoding = isUtf8(bytes) ? "utf8" : "latin1";
    const text = bytes.toString(encoding);
    const own = this.#removed === undefined ? text : text.replaceAll(this.#removed, "");
    const masked = this.#masks.reduce((shown, mask) => shown.replaceAll(mask, MASK_TEXT), own);
    return masked === text ? bytes : Buffer.from(masked, encoding);
  }
}
