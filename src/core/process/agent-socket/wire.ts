import { GUARDIAN_EVENT } from "../guarded-command/wire.ts";

/**
 * The frames between a launcher and the agent, in the format of guarded-command/wire.ts. After GUARD, the requests and
 * events of the guardian use the same connection.
 */

/** Version of these frames. */
export const CALL_VERSION = 1n;

/** Launcher to agent. */
export const LAUNCHER_EVENT = {
  /** First frame. a = CLOCK_BOOTTIME now, ns; b = version. Block: see `decodeCallHead`. */
  call: 32,
  /**
   * A piece of the words after the program's name, each followed by a NUL. a = 1: the user of the launcher has a
   * configuration file.
   */
  words: 33,
  /** A piece of environment entries `NAME=value`, each followed by a NUL. */
  settings: 34,
  /** When a call is resumed: the block of the last NOTE. */
  note: 35,
  /** The call is complete. a = one of CALL_STATES; b = number of this connection of the call, from 0. */
  callEnd: 36,
  /** a = number of a signal that the launcher received; b = 1: it was passed to the command, 0: it was not. */
  signalled: 37,
  /** a = wait status of the outer guardian. Both guardians have ended. */
  guardiansEnded: 38,
} as const;

const LATER_EVENTS: ReadonlySet<number> = new Set([
  ...Object.values(GUARDIAN_EVENT),
  LAUNCHER_EVENT.signalled,
  LAUNCHER_EVENT.guardiansEnded,
]);

/** Whether a launcher may send a frame of a kind when its call is complete. */
export function isLaterEvent(kind: number): boolean {
  return LATER_EVENTS.has(kind);
}

/** Agent to launcher. */
export const AGENT_REQUEST = {
  /** a = version. */
  accepted: 160,
  /** Block = reason, UTF-8. */
  declined: 161,
  /**
   * Block = a text to send back when the call is resumed; a = time for which to try that, ms; b = 1: the guardians have ended,
   * and another attempt follows.
   */
  note: 162,
  /** a = 1 or 2; block = bytes for the launcher's standard output or error. */
  write: 163,
  /**
   * Start the guardians. a = 1: hold back the output of the command; b = some of `HOOK_BITS`, with a block: what hooks tell
   * of the run, JSON.
   */
  guard: 164,
  /** a = exit code of the launcher; block: what hooks tell of the end, JSON, if they are to be called. */
  end: 165,
} as const;

export const HOOK_BITS = { atEnd: 1n, atStart: 2n } as const;

/**
 * By the number in CALL_END: `new`; `waiting`: resumed before its command was started; `running`: resumed by the inner
 * guardian of its command.
 */
export const CALL_STATES = ["new", "waiting", "running"] as const;

/** State of a call when its connection was made. */
export type CallState = (typeof CALL_STATES)[number];

/** Maximum length of a note, bytes. */
export const NOTE_MAX = 4096;

/** The block of CALL. */
export interface CallHead {
  /** Process id of the launcher, in its own pid namespace. */
  pid: number;
  directory: Buffer;
}

/** Decodes the block of CALL: u32 pid, u32 parent pid, directory and a NUL. @returns undefined when it is malformed */
export function decodeCallHead(block: Buffer): CallHead | undefined {
  const end = block.indexOf(0, 8);
  if (block.length < 10 || end !== block.length - 1) return undefined;
  return { pid: block.readUInt32LE(0), directory: block.subarray(8, end) };
}
