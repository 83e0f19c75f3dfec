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
      const text = Buffer.from(this.#kept, "latin1").toString("utf8");
      this.#kept = "";
      return { length: end + END.length, text };
    }
    // The end may have come in part.
    const safe = Math.max(0, rest.length - END.length + 1);
    this.#keep(rest.slice(0, safe));
    return { length: safe, text: undefined };
  }

  #keep(bytes: string): void {
    this.#kept += bytes.slice(0, Math.max(0, MOST - this.#kept.length));
  }
}
