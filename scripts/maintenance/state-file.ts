import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { ScriptError } from "./command-line.ts";

/**
 * What a script must remember to go on where it stopped, in a file under `XDG_STATE_HOME`. A write is whole or not at all,
 * also when the power fails. One process at a time has it.
 */
export class StateFile<T extends object> {
  readonly path: string;

  /** @param name  of the work, such as `rolling web` */
  constructor(name: string) {
    const { XDG_STATE_HOME: xdg = "" } = process.env;
    const home = isAbsolute(xdg) ? xdg : join(homedir(), ".local/state");
    this.path = join(home, "signalbox/maintenance", `${encodeURIComponent(name)}.json`);
  }

  /** Takes it for this process, until that ends. @throws Stop 75 when another has it */
  acquire(): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const lock = `${this.path}.lock`;
    const owner = read(lock);
    if (owner !== undefined && isAlive(owner))
      throw new ScriptError(75, `process ${owner.split(" ")[0]} is at it already`);
    rmSync(lock, { force: true });
    try {
      writeWhole(openSync(lock, "wx", 0o600), `${process.pid} ${readProcessStart(process.pid)}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST")
        throw new ScriptError(75, "another process is at it");
      throw error;
    }
    process.on("exit", () => rmSync(lock, { force: true }));
  }

  /** @throws Stop 78 when it is not what was written */
  load(): T | undefined {
    const text = read(this.path);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new ScriptError(78, `${this.path} cannot be read; look at it, and remove it to begin anew`);
    }
  }

  save(state: T): void {
    const draft = `${this.path}.${process.pid}`;
    writeWhole(openSync(draft, "w", 0o600), JSON.stringify(state, undefined, 2));
    renameSync(draft, this.path);
    const folder = openSync(dirname(this.path), "r");
    fsyncSync(folder); // else the new name may be lost with the power
    closeSync(folder);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

function writeWhole(file: number, text: string): void {
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether the process of a lock still runs, and is no later one with its number. */
function isAlive(owner: string): boolean {
  const [pid = "", start = ""] = owner.split(" ");
  return start !== "" && readProcessStart(Number(pid)) === start;
}

/** When a process began, as the kernel counts, and the boot that it is counted from; empty when there is none. */
function readProcessStart(pid: number): string {
  const stat = read(`/proc/${pid}/stat`);
  const ticks = stat?.slice(stat.lastIndexOf(")")).split(" ")[20];
  return ticks === undefined ? "" : `${ticks}@${read("/proc/sys/kernel/random/boot_id")?.trim()}`;
}
