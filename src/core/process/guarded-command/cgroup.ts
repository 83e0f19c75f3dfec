import { lstatSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";

/** The cgroup that a guardian created for its command, for use after all guardians have ended. */
export class CommandCgroup {
  readonly #directory: string;
  readonly #owner: number | undefined;

  /**
   * @param directory  "" when there is none
   * @param owner  the user to whom it must belong whenever it is used. Undefined: not checked
   */
  constructor(directory: string, owner?: number) {
    this.#directory = directory;
    this.#owner = owner;
  }

  /** Kills all processes in the cgroup and below. */
  kill(): void {
    const path = this.#path;
    if (path !== "") ignoreErrors(() => writeFileSync(`${path}/cgroup.kill`, "1"));
  }

  listProcessIds(): number[] {
    const path = this.#path;
    if (path === "") return [];
    const text = ignoreErrors(() => readFileSync(`${path}/cgroup.procs`, "latin1")) ?? "";
    return text.split("\n").map(Number).filter(Boolean);
  }

  /** Removes the directory. Has no effect while processes remain in it. */
  remove(): void {
    const path = this.#path;
    if (path !== "") ignoreErrors(() => rmdirSync(path));
  }

  /** Its directory; "" when there is none, or it belongs to another user. */
  get #path(): string {
    if (this.#owner === undefined || this.#directory === "") return this.#directory;
    const status = ignoreErrors(() => lstatSync(this.#directory));
    return status?.isDirectory() && status.uid === this.#owner ? this.#directory : "";
  }
}

function ignoreErrors<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined; // already removed, or owned by another user
  }
}
