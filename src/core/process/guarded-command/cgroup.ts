import { lstatSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";

/** The cgroup that a guardian created for its command, for use after all guardians have ended. */
export class CommandCgroup {
  readonly #directory: string;
  readonly #owner: number | undefined;
  #isSealed = false;

  /**
   * @param directory  "" when there is none
   * @param owner  the user to whom it must belong whenever it is used. Undefined: not checked
   */
  constructor(directory: string, owner?: number) {
    this.#directory = directory;
    this.#owner = owner;
  }

  /** Lets no container start in it any more: a daemon may be late. The next guardian there removes it after some time. */
  seal(): void {
    this.#isSealed = true;
    const path = this.#path;
    if (path !== "") ignoreErrors(() => writeFileSync(`${path}/cgroup.max.descendants`, "0"));
  }

  /** Kills all processes in the cgroup and below. */
  kill(): void {
    const path = this.#path;
    if (path !== "") ignoreErrors(() => writeFileSync(`${path}/cgroup.kill`, "1"));
  }

  /** Lists the ids of the processes in the cgroup and below. */
  listProcessIds(): number[] {
    return this.#listMembers().flat();
  }

  /** Whether a process is in another cgroup below this one than the client of its runtime. */
  hasContainer(client: number): boolean {
    return this.#listMembers().some((ids) => ids.length > 0 && !ids.includes(client));
  }

  /** Lists the ids of the processes in the cgroup, and in each cgroup below. */
  #listMembers(): number[][] {
    const path = this.#path;
    return path === "" ? [] : listMembers(path);
  }

  /** Removes those of containers, and the directory if it is not sealed. Has no effect while processes remain in it. */
  remove(): void {
    const path = this.#path;
    if (path === "") return;
    if (this.#isSealed) listBelow(path).forEach(removeEmpty);
    else removeEmpty(path);
  }

  /** Its directory; "" when there is none, or it belongs to another user. */
  get #path(): string {
    if (this.#owner === undefined || this.#directory === "") return this.#directory;
    const status = ignoreErrors(() => lstatSync(this.#directory));
    return status?.isDirectory() && status.uid === this.#owner ? this.#directory : "";
  }
}

function listMembers(path: string): number[][] {
  const text = ignoreErrors(() => readFileSync(`${path}/cgroup.procs`, "latin1")) ?? "";
  return [text.split("\n").map(Number).filter(Boolean), ...listBelow(path).flatMap(listMembers)];
}

function removeEmpty(path: string): void {
  for (const below of listBelow(path)) removeEmpty(below);
  ignoreErrors(() => rmdirSync(path));
}

/** Lists the cgroups in a cgroup. */
function listBelow(path: string): string[] {
  const entries = ignoreErrors(() => readdirSync(path, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => (entry.isDirectory() ? [`${path}/${entry.name}`] : []));
}

function ignoreErrors<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined; // already removed, or owned by another user
  }
}
