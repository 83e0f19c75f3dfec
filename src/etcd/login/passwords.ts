import { readFileWithMode, readPassword } from "../../config/files.ts";

/** First and longest time before a refused password is tried again, ms. */
const [FIRST_REST, LONGEST_REST] = [1_000, 30_000];

/**
 * The possible passwords of a user while the password is being changed: the current one in the file, and the last one
 * that etcd accepted. A refused password is not tried again for a while, because each attempt costs etcd as much as a
 * successful one.
 */
export class Passwords {
  readonly #file: string | undefined;
  #latest: string;
  #accepted: string | undefined;
  readonly #refused = new Map<string, { until: number; rest: number }>();

  /** @param file  the file that contained `first`, if there is one */
  constructor(first: string, file: string | undefined) {
    this.#latest = first;
    this.#file = file;
  }

  /** Whether the password can change. */
  get canChange(): boolean {
    return this.#file !== undefined;
  }

  /** Returns a password to try now, if there is one. */
  findNext(now: number): string | undefined {
    this.#readAgain();
    const known = this.#accepted === undefined ? [this.#latest] : [this.#latest, this.#accepted];
    return known.find((one) => (this.#refused.get(one)?.until ?? now) <= now);
  }

  accept(password: string): void {
    this.#accepted = password;
    this.#refused.clear();
  }

  /** @param unit  uniform in [0, 1); spreads the retries of processes whose password was refused at the same time */
  refuse(password: string, now: number, unit: number): void {
    const before = this.#refused.get(password);
    const rest = before === undefined ? FIRST_REST : Math.min(2 * before.rest, LONGEST_REST);
    this.#refused.set(password, { rest, until: now + rest * (0.5 + unit / 2) });
  }

  /** Reads the file again. Ignores a file that is being written or is missing for a moment. */
  #readAgain(): void {
    const isUntried = this.#accepted === undefined && this.#refused.size === 0;
    if (this.#file === undefined || isUntried) return;
    try {
      this.#latest = readPassword(this.#file, readFileWithMode);
    } catch {
      // keep the last known password
    }
  }
}
