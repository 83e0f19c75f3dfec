import { readFileSync, rmdirSync, writeFileSync } from "node:fs";

/** The cgroup that a guardian created for its command, for use after all guardians have ended. */
export class CommandCgroup {
  readonly #path: string;

  /** @param path  its directory; "" when there is none */
  constructor(path: string) {
    this.#path = path;
  }

  /** Kills all processes in the cgroup and below. */
  kill(): void {
    if (this.#path !== "") ignoreErrors(() => writeFileSync(`${this.#path}/cgroup.kill`, "1"));
  }

  /** Lists the ids of the processes in the cgroup. */
  listProcessIds(): number[] {
    if (this.#path === "") return [];
    const text = ignoreErrors(() => readFileSync(`${this.#path}/cgroup.procs`, "latin1")) ?? "";
    return text.split("\n").map(Number).filter(Boolean);
  }

  /** Removes the directory. Has no effect while processes remain in it. */
  remove(): void {
    if (this.#path !== "") ignoreErrors(() => rmdirSync(this.#path));
  }
}

function ignoreErrors<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined; // already removed, or owned by another user
  }
}
