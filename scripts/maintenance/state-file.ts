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
 * The progress of a script, in a file under `XDG_STATE_HOME`, so that the script can continue after an interruption. Writes
 * are atomic, even if the power fails. Only one process at a time can use the file.
 */
export class StateFile<T extends object> {
  readonly path: string;

  /** @param name  name of the task, such as `rolling web` */
  constructor(name: string) {
    const { XDG_STATE_HOME: xdg = "" } = process.env;
    const home = isAbsolute(xdg) ? xdg : join(homedir(), ".local/state");
    this.path = join(home, "signalbox/maintenance", `${encodeURIComponent(name)}.json`);
  }

  /** Locks the file until this process ends. @throws ScriptError 75 if another process has locked it */
  acquire(): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const lock = `${this.path}.lock`;
    const owner = read(lock);
    if (owner !== undefined && isAlive(owner))
      throw new ScriptError(75, `process ${owner.split(" ")[0]} is already doing this`);
    rmSync(lock, { force: true });
    try {
      writeWhole(openSync(lock, "wx", 0o600), `${process.pid} ${readProcessStart(process.pid)}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST")
        throw new ScriptError(75, "another process is already doing this");
      throw error;
    }
    process.on("exit", () => rmSync(lock, { force: true }));
  }

  /** @throws ScriptError 78 if the content is not valid */
  load(): T | undefined {
    const text = read(this.path);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new ScriptError(78, `${this.path} is not valid JSON; check it, and remove it to start again`);
    }
  }

  save(state: T): void {
    const draft = `${this.path}.${process.pid}`;
    writeWhole(openSync(draft, "w", 0o600), JSON.stringify(state, undefined, 2));
    renameSync(draft, this.path);
    const folder = openSync(dirname(this.path), "r");
    fsyncSync(folder); // otherwise a power failure may undo the rename
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

/** Whether the process that wrote the lock still runs. A later process with the same id does not count. */
function isAlive(owner: string): boolean {
  const [pid = "", start = ""] = owner.split(" ");
  return start !== "" && readProcessStart(Number(pid)) === start;
}

/** Reads the start time of a process in clock ticks, and the id of the boot; empty if there is no such process. */
function readProcessStart(pid: number): string {
  const stat = read(`/proc/${pid}/stat`);
  const ticks = stat?.slice(stat.lastIndexOf(")")).split(" ")[20];
  return ticks === undefined ? "" : `${ticks}@${read("/proc/sys/kernel/random/boot_id")?.trim()}`;
}
