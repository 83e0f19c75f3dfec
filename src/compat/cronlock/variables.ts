import { ConfigError } from "../../base/errors.ts";
import { clean, quoted } from "../../base/text.ts";
import type { Assignment } from "./shell-file.ts";

/** A variable's value, and where it stood: `environment CRONLOCK_HOST`, `/etc/cronlock.conf: CRONLOCK_HOST`. */
export interface Variable {
  value: string;
  source: string;
}

/** The variables of a tool. An empty one counts as unset, as with the tools themselves. */
export class Variables {
  readonly #env: ReadonlyMap<string, string>;
  readonly #file: ReadonlyMap<string, Variable>;

  /** @param path  of the configuration file that the assignments are from: they win, as a file is sourced last */
  constructor(env: ReadonlyMap<string, string>, assignments: readonly Assignment[] = [], path = "") {
    this.#env = env;
    this.#file = new Map(
      assignments.map(({ name, value }) => [name, { value, source: `${clean(path)}: ${name}` }]),
    );
  }

  /** @throws ConfigError naming where it stands, for what is not UTF-8 */
  get(name: string): Variable | undefined {
    const value = this.#env.get(name) ?? "";
    const found = this.#file.get(name) ?? { value, source: `environment ${name}` };
    // It was replaced on the way in: two keys could be one, and keep each other's commands from running.
    if (found.value.includes("\ufffd")) throw new ConfigError(`${found.source}: it is not UTF-8`);
    return found.value === "" ? undefined : found;
  }

  text(name: string): string | undefined {
    return this.get(name)?.value;
  }

  /** Whether it is set, if only to nothing. */
  isSet(name: string): boolean {
    return this.#file.has(name) || this.#env.has(name);
  }

  /** Only `yes` is one, as with the tools. */
  isYes(name: string): boolean {
    return this.text(name) === "yes";
  }

  /** The same, where another word would be taken for yes by whoever wrote it. @throws ConfigError naming where it stands */
  isClearlyYes(name: string): boolean {
    const found = this.get(name);
    if (found === undefined || found.value === "no") return false;
    if (found.value === "yes") return true;
    throw new ConfigError(`${found.source}: ${quoted(found.value)} is neither yes nor no`);
  }

  /** A whole number. @throws ConfigError naming where it stands */
  count(name: string, standard: number, { least = 0, most = 999_999_999 } = {}): number {
    const found = this.get(name);
    if (found === undefined) return standard;
    const value = /^\d{1,9}$/.test(found.value) ? Number(found.value) : Number.NaN;
    if (value >= least && value <= most) return value;
    const wanted = `a whole number from ${least} to ${most}`;
    throw new ConfigError(`${found.source}: ${quoted(found.value)} is not ${wanted}`);
  }

  /** What either tool takes for true or false. @throws ConfigError naming where it stands */
  truth(name: string): boolean {
    const found = this.get(name);
    if (found === undefined) return false;
    const word = found.value.toLowerCase();
    if (["yes", "true", "t", "1", "on"].includes(word)) return true;
    if (["no", "false", "f", "0", "off"].includes(word)) return false;
    throw new ConfigError(
      `${found.source}: ${quoted(found.value)} is neither yes (true, 1) nor no (false, 0)`,
    );
  }
}
