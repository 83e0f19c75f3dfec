import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";
import { EXIT, SignalboxError } from "../../base/errors.ts";
import type { CommandExit } from "./command.ts";
import { EXITED, type Frame, GUARDIAN_EXIT, REFUSED } from "./wire.ts";

/** Parses an EXITED frame: a wait status as of waitpid(2), and bits. */
export function parseCommandExit(frame: Frame): CommandExit {
  const status = Number(frame.a);
  const signal = status & 0x7f;
  return {
    code: signal === 0 ? (status >> 8) & 0xff : undefined,
    signal: signal === 0 ? undefined : signal,
    terminated: (frame.b & EXITED.terminated) !== 0n,
    leftovers: (frame.b & EXITED.leftovers) !== 0n,
  };
}

/** The exit of a command that was killed together with its guardian. */
export const KILLED: CommandExit = {
  code: undefined,
  signal: constants.signals.SIGKILL,
  terminated: true,
  leftovers: false,
};

/** Builds the error for a failed exec: 127 when the file or its interpreter was not found, else 126, as in env(1). */
export function createExecError(file: string, errno: number): SignalboxError {
  const [name, message] = getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, "unknown error"];
  if (errno === constants.errno.ENOENT) {
    const hint = /\s/.test(file)
      ? "; it is one word: leave out the quotes around command and arguments, or use a shell: sh -c 'COMMAND'"
      : "";
    return new SignalboxError(EXIT.notFound, `"${file}" was not found: ${message} (${name})${hint}`);
  }
  const why = errno === constants.errno.EISDIR ? "it is a directory" : `${message} (${name})`;
  return new SignalboxError(EXIT.notExecutable, `"${file}" cannot be executed: ${why}`);
}

/**
 * Builds the error for a start that the guardian refused. A late start has an external cause; the other reasons are
 * defects in signalbox.
 */
export function createStartError(file: string, reason: bigint): SignalboxError {
  if (reason === REFUSED.tooLate)
    return new SignalboxError(
      EXIT.lost,
      `"${file}" was not started: its deadline had passed, or its termination was requested`,
    );
  const why = reason === REFUSED.unarmed ? "no deadline was armed" : "it was started before";
  return new SignalboxError(EXIT.internal, `"${file}" was not started: ${why}`);
}

/**
 * Builds the error for a guardian that ended before it reported a running command. A killed guardian is an external
 * cause.
 * @param code      exit code of the outer guardian; undefined when a signal ended it
 * @param launched  the guardian had received the order to start the command
 */
export function createGuardianError(
  file: string,
  code: number | undefined,
  launched: boolean,
): SignalboxError {
  if (code === undefined || code === GUARDIAN_EXIT.innerKilled) {
    const what = launched
      ? `"${file}" was killed as it started, because its guardian was killed`
      : `"${file}" was not started: its guardian was killed before`;
    return new SignalboxError(EXIT.lost, `${what}; none of its processes is left; run it again`);
  }
  return new SignalboxError(EXIT.internal, `the guardian of "${file}" ended with code ${code}`);
}

/** Builds the error for a guardian that ended by itself before it was ready. @param code  its exit code */
export function createUnfitGuardianError(code: number | undefined): SignalboxError {
  const message =
    code === GUARDIAN_EXIT.setup
      ? "the guardian cannot work on this host, see its message on standard error; it needs Linux with /proc"
      : `the guardian ended with code ${code} and without a message: it is damaged, or of another version; rebuild it with \`npm run build\``;
  return new SignalboxError(EXIT.config, message);
}
