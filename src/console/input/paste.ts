import { clean } from "../../base/text.ts";

/** Bytes of a paste that are kept; of more, the beginning. */
const MOST = 1 << 20;
const END = "\x1b[201~";

/** What is pasted, up to the end that the terminal marks. */
export class PasteBuffer {
  #kept = "";

  /**
   * Takes from what has come.
   * @param rest  bytes, one character each
   * @returns how many bytes were taken; and the text, once it is whole
   */
  take(rest: string): { length: number; text: string | undefined } {
    const end = rest.indexOf(END);
    if (end >= 0) {
      this.#keep(rest.slice(0, end));
      const text = tidied(Buffer.from(this.#kept, "latin1").toString("utf8"));
      this.clear();
      return { length: end + END.length, text };
    }
    // The end may have come in part.
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

/** Line breaks, which terminals make the key Enter, and text: what a terminal would take for a command goes. */
function tidied(text: string): string {
  const lines = text.split(/\r\n?|\n/);
  return lines.map((line) => clean(line)).join("\n");
}
