import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A text in a file of its own, for an editor: nobody else can read it, nor put another in its place. */
export class Sheet {
  readonly path: string;
  readonly #first: string;
  #isGone = false;

  constructor(text: string) {
    this.path = join(mkdtempSync(join(tmpdir(), "signalbox-")), "signalbox.json"); // the folder has mode 0700
    this.#first = text;
    writeFileSync(this.path, text, { mode: 0o600, flag: "wx" });
  }

  /** As it is now; the first text where the file cannot be read. */
  read(): string {
    try {
      return readFileSync(this.path, "utf8");
    } catch {
      return this.#first;
    }
  }

  /** Whether there is anything that somebody typed. */
  get isChanged(): boolean {
    return !this.#isGone && this.read() !== this.#first;
  }

  discard(): void {
    this.#isGone = true;
    rmSync(dirname(this.path), { recursive: true, force: true });
  }
}
