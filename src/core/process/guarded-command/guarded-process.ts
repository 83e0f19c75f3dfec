import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { restoreCallerEntries } from "../caller-environment.ts";
import type { CommandSpec } from "./command.ts";
import { type GuardianPorts, GuardianProcess } from "./guardian-process.ts";
import { NativeGuardedCommand } from "./native-guarded-command.ts";
import { encodeEntries, encodeEnvironment } from "./wire.ts";

/** A command under a guardian that is a child of this process. */
export class GuardedProcess extends NativeGuardedCommand<GuardianProcess> {
  readonly #spec: CommandSpec;

  /**
   * Starts the guardian.
   * @throws SignalboxError when an argument is invalid or the system refuses the command's environment
   */
  constructor(binary: string, spec: CommandSpec, ports: GuardianPorts) {
    // What another user's command gets must not change how the guardian runs (LD_PRELOAD).
    const { text, raw } =
      spec.user === undefined ? splitEnvironment(spec.env) : { text: {}, raw: encodeEntries(spec.env) };
    super({
      spec,
      clock: ports.clock,
      environment: encodeEnvironment(raw),
      createGuardian: (onFrame) => new GuardianProcess(binary, { ...spec, env: text }, ports, onFrame),
    });
    this.#spec = spec;
  }

  override start(env: Record<string, string>): Promise<number> {
    const { inherited, isForeground } = this.#spec;
    if (inherited !== undefined && !isForeground) {
      // In the foreground, the terminal signals the command too.
      const stop = passTerminalSignals((name) => this.signal(name), inherited.ignored);
      void this.exited.then(stop);
    }
    return super.start(env);
  }
}

/** Node's replacement for bytes that are not valid UTF-8. */
const REPLACEMENT_CHARACTER = "\ufffd";
const EQUALS_BYTE = 0x3d;
const NUL_BYTE = Buffer.from([0]);

/** This process's environment at its start. */
export interface InitialEnvironment {
  /** Names as Node decodes them. */
  listNames(): readonly string[];
  /** Entries, each followed by a NUL. */
  readBytes(): Buffer;
}

const own: InitialEnvironment = {
  listNames: () => Object.keys(process.env),
  readBytes: readEntries,
};

/** An environment, split by the way its entries are passed on. */
interface SplitEnvironment {
  text: Record<string, string | undefined>;
  /** Entries that are not valid UTF-8, each followed by a NUL. */
  raw: Buffer;
}

/**
 * Separates the variables that are not valid UTF-8. Node would pass their values on with U+FFFD, three bytes for one,
 * and loses variables whose names are not valid UTF-8.
 * @param env  the environment for the command, as Node decodes it. Values that differ from the initial ones are kept, and
 * missing variables stay missing
 */
export function splitEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  initial: InitialEnvironment = own,
): SplitEnvironment {
  const isSpoiled = (text: string | undefined) => text?.includes(REPLACEMENT_CHARACTER) === true;
  const text = { ...env };
  if (!Object.values(env).some(isSpoiled) && !initial.listNames().some(isSpoiled))
    return { text, raw: Buffer.alloc(0) };
  const entries = splitEntries(initial.readBytes()).filter((entry) => isRaw(entry, env));
  for (const entry of entries) delete text[entry.toString("utf8", 0, entry.indexOf(EQUALS_BYTE))];
  return { text, raw: Buffer.concat(entries.flatMap((entry) => [entry, NUL_BYTE])) };
}

function isRaw(entry: Buffer, env: Readonly<Record<string, string | undefined>>): boolean {
  const equals = entry.indexOf(EQUALS_BYTE);
  if (equals < 1 || isUtf8(entry)) return false;
  const [name, value] = [entry.subarray(0, equals), entry.toString("utf8", equals + 1)];
  return !isUtf8(name) || env[name.toString()] === value; // signalbox never sets a name that is not valid UTF-8
}

function splitEntries(block: Buffer): Buffer[] {
  const entries: Buffer[] = [];
  for (let at = 0, end = block.indexOf(0); end >= 0; at = end + 1, end = block.indexOf(0, at))
    entries.push(block.subarray(at, end));
  return entries;
}

function readEntries(): Buffer {
  try {
    return restoreCallerEntries(readFileSync("/proc/self/environ"));
  } catch {
    return Buffer.alloc(0); // no /proc: the command gets what Node passes on
  }
}

/** Receives a signal for the command. */
type Send = (name: NodeJS.Signals) => void;

/**
 * Passes on the signals of a terminal that end no process. The command does not receive them itself, because it is not in
 * the process group that the terminal signals. SIGTSTP also stops this process, as its shell expects.
 * @param ignored  signals that the caller ignores
 * @returns a function that stops passing them on
 */
function passTerminalSignals(send: Send, ignored: readonly NodeJS.Signals[]): () => void {
  const stop = () => {
    send("SIGTSTP");
    process.off("SIGTSTP", stop);
    process.kill(process.pid, "SIGTSTP"); // no effect in a process group without a shell that could continue it
    process.on("SIGTSTP", stop);
    send("SIGCONT");
  };
  const all = [
    ["SIGTSTP", stop],
    ["SIGCONT", send],
    ["SIGWINCH", send],
  ] as const;
  const passed = all.filter(([name]) => !ignored.includes(name));
  for (const [name, listener] of passed) process.on(name, listener);
  return () => {
    for (const [name, listener] of passed) process.off(name, listener);
  };
}
