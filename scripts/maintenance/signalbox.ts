import { constants } from "node:os";
import { $, type ProcessPromise } from "zx";
import { ScriptError } from "./command-line.ts";

/** A drain in the JSON of `signalbox drain --json`. */
export interface Drain {
  by: string;
  why?: string;
  /** etcd revision of its last change, for `--expect-revision`. */
  revision: string;
}

/** The fields of the JSON documents that the scripts use. */
interface SignalboxAnswer {
  outcome: string;
  messages: string[];
  drain?: Drain;
  /** Drains of the same scope that existed before. */
  before?: Drain[];
  hosts?: string[];
}

const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs `signalbox ARGS --json --yes`. Its messages for people go to standard error. */
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
 * Runs the operator's command: several words directly, a single word with the shell.
 * @returns its exit code
 */
export async function runCommand(words: readonly string[], env: Record<string, string>): Promise<number> {
  const [line = ""] = words;
  const argv = words.length === 1 ? ["sh", "-c", line] : words;
  const run = $({ nothrow: true, quiet: true, stdio: "inherit", env: { ...process.env, ...env } })`${argv}`;
  return (await waitForExit(run)).code;
}

/**
 * Waits for a process, and forwards signals to it. At a terminal, Ctrl+C reaches the whole process group without this.
 */
async function waitForExit(run: ProcessPromise): Promise<{ code: number; stdout: string }> {
  const forwardSignal = (name: NodeJS.Signals) => {
    if (name !== "SIGINT" || !process.stdin.isTTY) run.kill(name).catch(() => {}); // fails if it has just ended
  };
  for (const name of ENDINGS) process.on(name, forwardSignal);
  try {
    const { exitCode, signal, stdout } = await run;
    return { code: exitCode ?? 128 + (constants.signals[signal ?? "SIGTERM"] ?? 15), stdout };
  } finally {
    for (const name of ENDINGS) process.off(name, forwardSignal);
  }
}
