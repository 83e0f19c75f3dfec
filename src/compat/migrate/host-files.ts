import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";

/** Maximum size of a configuration file, in bytes. A longer file is not one. */
const LONGEST = 1_000_000;

/** Configuration files of this host, by path, read on first access. */
export class HostFiles extends Map<string, string> {
  /** Paths that were read, and paths that could not be. */
  readonly readPaths: string[] = [];
  readonly unreadable: string[] = [];
  readonly #tried = new Set<string>();

  /** Paths whose text comes from another file. */
  readonly namedPaths = new Set<string>();

  addNamed(place: string, text: string, path: string): void {
    this.set(place, text);
    this.namedPaths.add(place);
    this.readPaths.push(path);
  }

  override get(path: string): string | undefined {
    if (!super.has(path) && isAbsolute(path) && !this.#tried.has(path)) this.#load(path);
    return super.get(path);
  }

  override has(path: string): boolean {
    return this.get(path) !== undefined;
  }

  #load(path: string): void {
    this.#tried.add(path);
    try {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return;
      if (!stat.isFile() || stat.size > LONGEST) throw new Error("it is not a file of settings");
      this.set(path, readFileSync(path, "utf8"));
      this.readPaths.push(path);
    } catch {
      this.unreadable.push(path);
    }
  }
}
