import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";

/** A tool's configuration is short; what is longer is something else. */
const LONGEST = 1_000_000;

/** Configuration files of this host, by path, read when they are asked for. */
export class HostFiles extends Map<string, string> {
  /** Paths that were read, or could not be. */
  readonly read: string[] = [];
  readonly unreadable: string[] = [];
  readonly #tried = new Set<string>();

  /** Places that were given a text from elsewhere. */
  readonly named = new Set<string>();

  name(place: string, text: string, path: string): void {
    this.set(place, text);
    this.named.add(place);
    this.read.push(path);
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
      if (!stat.isFile() || stat.size > LONGEST) throw new Error("it is no file of settings");
      this.set(path, readFileSync(path, "utf8"));
      this.read.push(path);
    } catch {
      this.unreadable.push(path);
    }
  }
}
