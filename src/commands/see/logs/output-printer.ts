import { clean } from "../../../base/text.ts";
import { getLostBytes, type OutputRecord } from "../../../work/output/output-record.ts";
import type { CommandIo } from "../../spec.ts";

/** Prints records: as they are, or one line after the other, without what a terminal would interpret. */
export class OutputPrinter {
  readonly #io: CommandIo;
  readonly #isRaw: boolean;
  readonly #note: (line: string) => void;
  readonly #decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
  readonly #rest = { 1: "", 2: "" };

  /** @param note  prints a line of ours */
  constructor(io: CommandIo, isRaw: boolean, note: (line: string) => void) {
    this.#io = io;
    this.#isRaw = isRaw;
    this.#note = note;
  }

  /** @returns false once the reader has closed standard output */
  print(records: readonly OutputRecord[], skipped = 0): boolean {
    if (skipped > 0) this.#note(`about ${skipped} bytes are left out here`);
    let isOpen = true;
    for (const record of records) {
      if (record.kind === 1 || record.kind === 2)
        isOpen = this.#printData(record.data, record.kind) && isOpen;
      const lost = getLostBytes(record);
      if (lost > 0) this.#note(`${lost} bytes were not kept here`);
    }
    return isOpen;
  }

  /** Prints the last line, if it is not complete. */
  end(): void {
    for (const kind of [1, 2] as const) if (this.#rest[kind] !== "") this.#printLine(this.#rest[kind]);
  }

  #printData(data: Buffer, kind: 1 | 2): boolean {
    if (this.#isRaw) return this.#io.writeBytes?.(data, kind) ?? this.#io.writeOutput(data.toString());
    const lines = (this.#rest[kind] + this.#decoders[kind].decode(data, { stream: true })).split("\n");
    this.#rest[kind] = lines.pop() ?? "";
    return lines.every((line) => this.#printLine(line));
  }

  #printLine(line: string): boolean {
    return this.#io.writeOutput(`${clean(line.replace(/\r+$/, "")).trimEnd()}\n`);
  }
}
