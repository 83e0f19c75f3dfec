import { clean } from "../../base/text.ts";
import { TAIL_BYTES } from "../../protocol/output.ts";

/**
 * Bytes kept to build the tail. The window is larger than the tail, because escape sequences and secrets cut at its
 * start must not reach the tail.
 */
const WINDOW_BYTES = 4 * TAIL_BYTES;

/** Keeps the end of the output. */
export class OutputTail {
  #window: Buffer = Buffer.alloc(0);

  take(chunk: Buffer): void {
    this.#window = Buffer.concat([this.#window.subarray(-WINDOW_BYTES), chunk.subarray(-WINDOW_BYTES)]);
  }

  /**
   * Returns the end of the output, at most 4 KiB of UTF-8 with line breaks; undefined when there is no output.
   * @param sanitize  removes what must not appear
   */
  render(sanitize: (text: string) => string = (text) => text): string | undefined {
    const text = sanitize(this.#window.subarray(-WINDOW_BYTES).toString("utf8"));
    const lines = text.split(/\r*\n/).map((line) => clean(line).trimEnd());
    const tail = cutLastBytes(lines.join("\n").trim(), TAIL_BYTES);
    return tail === "" ? undefined : tail;
  }
}

/** Returns the last bytes of a text, cut between characters. */
function cutLastBytes(text: string, most: number): string {
  const bytes = Buffer.from(text);
  let at = Math.max(0, bytes.length - most);
  while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return bytes.subarray(at).toString("utf8");
}
