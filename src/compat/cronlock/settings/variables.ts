import { ConfigError } from "../../../base/errors.ts";
import { clean, quoteText } from "../../../base/text.ts";
import type { Assignment } from "../shell-file.ts";

/** The value of a variable, and its source: `environment CRONLOCK_HOST`, `/etc/cronlock.conf: CRONLOCK_HOST`. */
export interface SourcedValue {
  value: string;
  source: string;
}

/** The variables of a tool. An empty one counts as unset, as for the tools. */
export class ToolVariables {
  readonly #env: ReadonlyMap<string, string>;
  readonly #file: ReadonlyMap<string, SourcedValue>;

  /**
   * @param path  the configuration file of the assignments. They override the environment, because a file is sourced
   * last.
   */
  constructor(env: ReadonlyMap<string, string>, assignments: readonly Assignment[] = [], path = "") {
    this.#env = env;
    this.#file = new Map(
      assignments.map(({ name, value }) => [name, { value, source: `${clean(path)}: ${name}` }]),
    );
  }

  /** @throws ConfigError with the source, if the value is not UTF-8 */
  get(name: string): SourcedValue | undefined {
    const value = this.#env.get(name) ?? "";
    const found = this.#file.get(name) ?? { value, source: `environment ${name}` };
    // Invalid UTF-8 was replaced when it was read. Two keys could become the same and block each other's commands.
    if (found.value.includes("\ufffd")) throw new ConfigError(`${found.source}: it is not UTF-8`);
    return found.value === "" ? undefined : found;
  }

  getText(name: string): string | undefined {
    return this.get(name)?.value;
  }

  /** Whether the variable is set, even to an empty value. */
  isSet(name: string): boolean {
    return this.#file.has(name) || this.#env.has(name);
  }

  /** Whether the value is `yes`, the only word for true that the tools accept. */
  isYes(name: string): boolean {
    return this.getText(name) === "yes";
  }

  /**
   * As `isYes`, but refuses other words, which the user may have meant as yes. @throws ConfigError with the source
   */
  isExplicitYes(name: string): boolean {
    const found = this.get(name);
    if (found === undefined || found.value === "no") return false;
    if (found.value === "yes") return true;
    throw new ConfigError(`${found.source}: ${quoteText(found.value)} is neither yes nor no`);
  }

  /** Parses a whole number. @throws ConfigError with the source */
  getCount(name: string, standard: number, { least = 0, most = 999_999_999 } = {}): number {
    const found = this.get(name);
    if (found === undefined) return standard;
    const value = /^\d{1,9}$/.test(found.value) ? Number(found.value) : Number.NaN;
    if (value >= least && value <= most) return value;
    const wanted = `a whole number from ${least} to ${most}`;
    throw new ConfigError(`${found.source}: ${quoteText(found.value)} is not ${wanted}`);
  }

  /** Parses a boolean in any form that one of the tools accepts. @throws ConfigError with the source */
  getBoolean(name: string): boolean {
    const found = this.get(name);
    if (found === undefined) return false;
    const word = found.value.toLowerCase();
    if (["yes", "true", "t", "1", "on"].includes(word)) return true;
    if (["no", "false", "f", "0", "off"].includes(word)) return false;
    throw new ConfigError(
      `${found.source}: ${quoteText(found.value)} is neither yes (true, 1) nor no (false, 0)`,
    );
  }
}
