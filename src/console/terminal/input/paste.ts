import { clean } from "../../../base/text.ts";

/** Maximum number of bytes kept of a paste. The rest is dropped. */
const MOST = 1 << 20;
const END = "\x1b[201~";

/** Collects a paste up to the end marker of the terminal. */
export class PasteBuffer {
  #kept = "";

  /**
   * Takes bytes of the paste.
   * @param rest  bytes, one character each
   * @returns how many bytes were taken, and the text once it is complete
   */
  take(rest: string): { length: number; text: string | undefined } {
    const end = rest.indexOf(END);
    if (end >= 0) {
      this.#keep(rest.slice(0, end));
      const text = cleanPaste(Buffer.from(this.#kept, "latin1").toString("utf8"));
      this.clear();
      return { length: end + END.length, text };
    }
    // The end marker may have arrived in part.
    const safe = Math.max(0, rest.length - END.length + 1);
    this.#keep(rest.slice(0, safe));
    return { length: safe, text: undefined };
  }

  clear(): void {
    this.#kept = "";
  }

  #keep(bytes: string): void {
    this.#kept += bytes.slice(0, Math.max(0, MOST - this.#kept.length));
  }
}

/** Normalizes line breaks, which terminals send as Enter, and removes terminal control sequences. */
function cleanPaste(text: string): string {
  const lines = text.split(/\r\n?|\n/);
  return lines.map((line) => clean(line)).join("\n");
}
