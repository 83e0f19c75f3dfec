import { constants } from "node:os";
import { $, type ProcessPromise } from "zx";
import { ScriptError } from "./command-line.ts";

/** A drain as `signalbox drain --json` has it. */
export interface Drain {
  by: string;
  why?: string;
  /** Of its last change: what `--expect-revision` takes. */
  revision: string;
}

/** What `--json` says, as far as these scripts ask. */
interface SignalboxAnswer {
  outcome: string;
  messages: string[];
  drain?: Drain;
  /** Drains of the same thing that stood before. */
  before?: Drain[];
  hosts?: string[];
}

const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs `signalbox ARGS --json --yes`; what it tells people goes to standard error as ever. */
export async function runSignalbox(
  ...args: readonly string[]
): Promise<{ code: number; answer: SignalboxAnswer }> {
  const { SIGNALBOX: program = "signalbox" } = process.env;
  const stdio = ["inherit", "pipe", "inherit"] as const;
  const run = $({ nothrow: true, quiet: true, stdio: [...stdio] })`${program} ${args} --json --yes`;
  const { code, stdout } = await waitForExit(run);
  const says = [0, 1, 75, 124].includes(code) && stdout.startsWith("{");
  if (!says)
    throw new ScriptError(code || 70, `signalbox ${args.slice(0, 3).join(" ")} failed (exit ${code})`);
  return { code, answer: JSON.parse(stdout) };
}

/**
 * Runs the operator's command: several words as they are, a single one as a line for the shell.
 * @returns its exit code
 */
export async function runCommand(words: readonly string[], env: Record<string, string>): Promise<number> {
  const [line = ""] = words;
  const argv = words.length === 1 ? ["sh", "-c", line] : words;
  const run = $({ nothrow: true, quiet: true, stdio: "inherit", env: { ...process.env, ...env } })`${argv}`;
  return (await waitForExit(run)).code;
}

/**
 * Waits for a process, and passes on to it the signals that would end us. At a terminal, Ctrl+C reaches the whole group by
 * itself.
 */
async function waitForExit(run: ProcessPromise): Promise<{ code: number; stdout: string }> {
  const forwardSignal = (name: NodeJS.Signals) => {
    if (name !== "SIGINT" || !process.stdin.isTTY) run.kill(name).catch(() => {}); // it may just have ended
  };
  for (const name of ENDINGS) process.on(name, forwardSignal);
  try {
    const { exitCode, signal, stdout } = await run;
    return { code: exitCode ?? 128 + (constants.signals[signal ?? "SIGTERM"] ?? 15), stdout };
  } finally {
    for (const name of ENDINGS) process.off(name, forwardSignal);
  }
}
