import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";
import { EXIT, SignalboxError } from "../base/errors.ts";
import type { CommandExit } from "./command.ts";
import { EXITED, type Frame, REFUSED } from "./wire.ts";

/** What EXITED says: a wait status as of waitpid(2), and bits. */
export function commandExit(frame: Frame): CommandExit {
  const status = Number(frame.a);
  const signal = status & 0x7f;
  return {
    code: signal === 0 ? (status >> 8) & 0xff : undefined,
    signal: signal === 0 ? undefined : signal,
    terminated: (frame.b & EXITED.terminated) !== 0n,
    leftovers: (frame.b & EXITED.leftovers) !== 0n,
  };
}

/** The end of a command whose guardian was killed: it was killed with it. */
export const KILLED: CommandExit = {
  code: undefined,
  signal: constants.signals.SIGKILL,
  terminated: true,
  leftovers: false,
};

/** Why the exec failed. 127 when something was not found (the file, or its interpreter), else 126, as env(1) has it. */
export function execFailure(file: string, errno: number): SignalboxError {
  const [name, message] = getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, "unknown error"];
  return errno === constants.errno.ENOENT
    ? new SignalboxError(EXIT.notFound, `"${file}" was not found: ${message} (${name})`)
    : new SignalboxError(EXIT.notExecutable, `"${file}" cannot be executed: ${message} (${name})`);
}

/** Why the guardian refused to start. Only lateness is the world's fault; the rest is ours. */
export function startRefusal(file: string, reason: bigint): SignalboxError {
  if (reason === REFUSED.tooLate)
    return new SignalboxError(
      EXIT.lost,
      `"${file}" was not started: its deadline had passed, or its end was asked for`,
    );
  const why = reason === REFUSED.unarmed ? "no deadline was armed" : "it was started before";
  return new SignalboxError(EXIT.internal, `"${file}" was not started: ${why}`);
}
