import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A text in a private file for an editor. Other users can neither read nor replace the file. */
export class EditorFile {
  readonly path: string;
  readonly #first: string;
  #isGone = false;

  /** @param name  of the file; editors choose by it how to show the text */
  constructor(text: string, name = "signalbox.json") {
    this.path = join(mkdtempSync(join(tmpdir(), "signalbox-")), name); // the folder has mode 0700
    this.#first = text;
    writeFileSync(this.path, text, { mode: 0o600, flag: "wx" });
  }

  /** Reads the current text; the first text if the file cannot be read. */
  read(): string {
    try {
      return readFileSync(this.path, "utf8");
    } catch {
      return this.#first;
    }
  }

  /** Whether the user has changed the text. */
  get isChanged(): boolean {
    return !this.#isGone && this.read() !== this.#first;
  }

  discard(): void {
    this.#isGone = true;
    rmSync(dirname(this.path), { recursive: true, force: true });
  }
}
