import type { EditorFile } from "../../cli/frame/editor.ts";

/** The definitions that the user has edited but not stored yet, by target. */
export class Drafts {
  readonly #sheets = new Map<string, EditorFile>();

  find(target: string): EditorFile | undefined {
    return this.#sheets.get(target);
  }

  keep(target: string, sheet: EditorFile): void {
    this.#sheets.set(target, sheet);
  }

  /** Removes a text and its file. */
  discard(target: string): void {
    this.#sheets.get(target)?.discard();
    this.#sheets.delete(target);
  }

  /** Removes the texts that the user has not changed. @returns the files of the others, which stay */
  end(): string[] {
    for (const [target, sheet] of this.#sheets) if (!sheet.isChanged) this.discard(target);
    return [...this.#sheets.values()].map(({ path }) => path);
  }
}
