import { ScriptError } from "./command-line.ts";
import { type Drain, runSignalbox } from "./signalbox.ts";

/** How long to wait for the holders, and what happens afterwards. */
export interface WaitOptions {
  /** A duration such as `10m`; undefined: no limit. */
  timeout?: string | undefined;
  /** Whether the remaining holders are ended at the timeout. */
  reset?: boolean;
}

/**
 * A drain that a script creates and lifts. The script finds its drain by the reason, which is unique and stored in its
 * state file, so it never lifts another drain.
 */
export class OwnDrain {
  readonly #target: readonly string[];
  readonly #reason: string;

  /** @param target  scope and name, as `signalbox drain` takes them */
  constructor(target: readonly string[], reason: string) {
    this.#target = target;
    this.#reason = reason;
  }

  /** Reads the present drains: the script's own one, and another one. */
  async readDrains(): Promise<{ own: Drain | undefined; other: Drain | undefined }> {
    const { answer } = await runSignalbox("drain", ...this.#target, "--dry-run");
    const present = answer.before ?? [];
    const own = present.find(({ why }) => why === this.#reason);
    return { own, other: present.find((drain) => drain !== own) };
  }

  /**
   * Drains, and waits until nothing in the scope is held. If the own drain exists already, only waits.
   * @throws ScriptError 124 if something is still held at the timeout, 75 if the drain was lifted in the meantime
   */
  async drainAndWait({ timeout, reset = false }: WaitOptions): Promise<void> {
    const patience = timeout === undefined ? [] : ["--timeout", timeout, ...(reset ? ["--reset"] : [])];
    const wish = ["--keep", "--reason", this.#reason, "--wait", ...patience];
    const { code, answer } = await runSignalbox("drain", ...this.#target, ...wish);
    if (code !== 0) throw new ScriptError(code, answer.messages.join("; "));
    if (answer.drain?.why !== this.#reason)
      throw new ScriptError(
        75,
        `${this.#target.join(" ")} was drained by ${answer.drain?.by} in the meantime`,
      );
  }

  /** Lifts the drain if it is unchanged. @returns false if it was already lifted @throws ScriptError 75 if it has changed */
  async lift(): Promise<boolean> {
    const { own } = await this.readDrains();
    if (own === undefined) return false;
    const { code, answer } = await runSignalbox(
      "undrain",
      ...this.#target,
      "--expect-revision",
      own.revision,
    );
    if (code !== 0) throw new ScriptError(code, answer.messages.join("; "));
    return true;
  }
}

/** Creates a unique reason. */
export function createReason(what: string): string {
  return `${what} (since ${new Date().toISOString()})`;
}

/** Formats the user and the reason of a drain. */
export function formatDrainOwner({ by, why }: Drain): string {
  return why === undefined ? by : `${by}: ${why}`;
}
