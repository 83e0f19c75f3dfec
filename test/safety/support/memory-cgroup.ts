/** A memory cgroup of this machine, of version 1 or 2, for a process that the kernel is to kill. */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

const ROOTS = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"];
/** Files of version 1 and 2. */
const FILES = [
  { usage: "memory.usage_in_bytes", limit: "memory.limit_in_bytes", events: "memory.oom_control" },
  { usage: "memory.current", limit: "memory.max", events: "memory.events" },
] as const;

/** Why there is none. */
export const OBSTACLE =
  "no cgroup with a memory limit can be created: that takes root, and version 1 or 2 with the controller";

/** Version 2 gives a controller only to the cgroups below one that passes it on. Systemd does, a bare root may not. */
function enableController(root: string): void {
  const file = join(root, "cgroup.subtree_control");
  if (existsSync(file) && !/\bmemory\b/.test(readFileSync(file, "utf8"))) writeFileSync(file, "+memory");
}

export class MemoryCgroup {
  readonly #path: string;
  readonly #files: (typeof FILES)[number];

  private constructor(path: string, files: (typeof FILES)[number]) {
    this.#path = path;
    this.#files = files;
  }

  /** @returns undefined if this machine does not let this process create one: `OBSTACLE` */
  static create(name: string): MemoryCgroup | undefined {
    for (const root of ROOTS) {
      const path = join(root, name);
      try {
        accessSync(join(root, "cgroup.procs"), constants.W_OK);
        enableController(root);
        mkdirSync(path);
      } catch {
        continue;
      }
      const files = FILES.find(({ limit }) => existsSync(join(path, limit)));
      if (files !== undefined) return new MemoryCgroup(path, files);
      rmdirSync(path);
    }
    return undefined;
  }

  /** Words of a program that becomes another one in this cgroup. */
  get before(): string[] {
    return ["sh", "-c", `echo $$ >${this.#path}/cgroup.procs && exec "$@"`, "sh"];
  }

  /** Sets the limit to what is used now, and this much more. */
  limitGrowth(bytes: number): void {
    const usage = Number(this.#read(this.#files.usage));
    writeFileSync(join(this.#path, this.#files.limit), String(usage + bytes));
    const swap = join(this.#path, "memory.swap.max"); // version 2 counts it apart, and would swap instead of killing
    if (existsSync(swap)) writeFileSync(swap, "0");
  }

  /** How many of its processes the kernel has killed because of their memory. */
  countKills(): number {
    return Number(/^oom_kill (\d+)$/m.exec(this.#read(this.#files.events))?.[1]);
  }

  /** Its processes must have ended. */
  remove(): void {
    rmdirSync(this.#path);
  }

  #read(file: string): string {
    return readFileSync(join(this.#path, file), "utf8");
  }
}
