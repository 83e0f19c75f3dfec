import { readFileSync } from "node:fs";
import { resolve } from "node:path";

/** A command that appends its token to $OUT from several processes, detached in different ways, while they run. */
export const TOKEN_WRITER = resolve(import.meta.dirname, "write-tokens.sh");

/** The lines that commands wrote to one file, in the order of the writes. */
export class TokenLog {
  readonly path: string;
  /** For the commands that write here. */
  readonly env: { OUT: string };

  constructor(path: string) {
    this.path = path;
    this.env = { OUT: path };
  }

  readLines(): string[] {
    try {
      return readFileSync(this.path, "utf8").split("\n").filter(Boolean);
    } catch {
      return [];
    }
  }

  /** Every token in order of its first line. */
  readTokens(): number[] {
    return [...new Set(this.readLines().map(Number))];
  }

  /**
   * Lines that came after a line with a larger token: a command wrote on after the next one had begun.
   * Tokens grow from holder to holder, so the ledger of a lock that never had two holders at once has none.
   */
  findOverlaps(): string[] {
    const lines = this.readLines();
    let largest = 0;
    return lines.flatMap((line, index) => {
      const token = Number(line);
      if (token >= largest) {
        largest = token;
        return [];
      }
      return [`line ${index + 1}: ${token} after ${largest}`];
    });
  }
}
