import type { CommandIo } from "../cli/frame/command.ts";
import { EXIT, SignalboxError } from "../core/base/errors.ts";
import type { Terminal } from "../core/base/terminal.ts";
import { clean } from "../core/base/text.ts";
import { readCallerEnvironment } from "../core/process/caller-environment.ts";
import { INHERITED_VARIABLE, parseInherited } from "../core/process/guarded-command/command.ts";
import { receiveUsr1 } from "../core/process/native/signals.ts";
import { writeAll } from "./write-all.ts";

/**
 * The terminal of this process. Opens its streams and loads `node:tty` only on first use, because that would slow down
 * every start.
 */
const terminal: Terminal = {
  isOutput: () => process.stdout.isTTY === true,
  canAsk: () => process.stdin.isTTY === true && process.stderr.isTTY === true,
  getSize: () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 }),
  onResize(listener) {
    process.stdout.on("resize", listener);
    return () => process.stdout.off("resize", listener);
  },
  ask,
};

async function ask(question: string): Promise<string | undefined> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  try {
    const answer = await new Promise<string | undefined>((answered) => {
      lines.once("close", () => answered(undefined));
      lines.once("SIGINT", () => answered(undefined));
      lines.question(question, answered);
    });
    if (answer === undefined) writeError("\n"); // the cursor is still behind the question
    return answer;
  } finally {
    lines.close();
  }
}

/** Signals that are forwarded to the command, or that end a waiting run. */
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** Signals that the caller ignores. Node has reset them, and a listener that does nothing ignores them again. */
const { ignored } = parseInherited(process.env[INHERITED_VARIABLE]);
for (const name of SIGNALS) if (ignored.includes(name)) process.on(name, () => {});

/** The input and output of this process, for commands. */
export const processIo: CommandIo = {
  env: readCallerEnvironment(),
  writeOutput: (text) => writeStream(text, 1),
  writeBytes: writeStream,
  writeError,
  writeMessage: (line) => writeError(`signalbox: ${clean(line)}\n`),
  onSignal(listener) {
    const received = SIGNALS.filter((name) => !ignored.includes(name));
    for (const name of received) process.on(name, listener);
    receiveUsr1();
    return () => {
      for (const name of received) process.off(name, listener);
    };
  },
  readInput: async () => (await import("node:stream/consumers")).text(process.stdin),
  terminal,
};

/**
 * Writes to standard output or standard error. Throws if that fails, because a script must not accept half a listing as
 * complete.
 * @returns false if the reader has closed the pipe
 * @throws SignalboxError 74
 */
function writeStream(text: string | Uint8Array, descriptor: 1 | 2): boolean {
  try {
    writeAll(descriptor, text);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EPIPE") return false; // the reader closed the pipe
    throw new SignalboxError(
      EXIT.io,
      `standard ${descriptor === 1 ? "output" : "error"} cannot be written: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
}

/** Writes to standard error. Ignores failures, because there is no other place to report them. */
function writeError(text: string): void {
  try {
    writeAll(2, text);
  } catch {
    // no place to report this
  }
}
