import { ScriptError } from "./command-line.ts";
import { type Drain, runSignalbox } from "./signalbox.ts";

/** How long to wait for those who hold something, and what then. */
export interface WaitOptions {
  /** Such as `10m`; undefined waits for ever. */
  timeout?: string | undefined;
  /** Whether those who remain at the timeout are ended. */
  reset?: boolean;
}

/**
 * A drain that this work puts and lifts, and never takes for its own what somebody else has put: it is known by its
 * reason, which is made new for every piece of work and kept in its state.
 */
export class OwnDrain {
  readonly #target: readonly string[];
  readonly #reason: string;

  /** @param target  scope and name, as `signalbox drain` takes them */
  constructor(target: readonly string[], reason: string) {
    this.#target = target;
    this.#reason = reason;
  }

  /** What stands now: our drain, or somebody else's. */
  async readDrains(): Promise<{ own: Drain | undefined; other: Drain | undefined }> {
    const { answer } = await runSignalbox("drain", ...this.#target, "--dry-run");
    const standing = answer.before ?? [];
    const own = standing.find(({ why }) => why === this.#reason);
    return { own, other: standing.find((drain) => drain !== own) };
  }

  /**
   * Drains, and waits until nobody holds anything there. Where ours stands already, goes on waiting.
   * @throws Stop 124 when somebody still holds something at the timeout, 75 when the drain was lifted meanwhile
   */
  async drainAndWait({ timeout, reset = false }: WaitOptions): Promise<void> {
    const patience = timeout === undefined ? [] : ["--timeout", timeout, ...(reset ? ["--reset"] : [])];
    const wish = ["--keep", "--reason", this.#reason, "--wait", ...patience];
    const { code, answer } = await runSignalbox("drain", ...this.#target, ...wish);
    if (code !== 0) throw new ScriptError(code, answer.messages.join("; "));
    if (answer.drain?.why !== this.#reason)
      throw new ScriptError(75, `${this.#target.join(" ")} has just been drained by ${answer.drain?.by}`);
  }

  /** Lifts it, exactly as it is. @returns false where it was not there any more @throws Stop 75 when it changed meanwhile */
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

/** A reason that no other work has. */
export function createReason(what: string): string {
  return `${what} (since ${new Date().toISOString()})`;
}

/** Whose a drain is, and why. */
export function formatDrainOwner({ by, why }: Drain): string {
  return why === undefined ? by : `${by}: ${why}`;
}
