import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { printMessage, ScriptError } from "./command-line.ts";

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
  const child = spawn(program, [...args, "--json", "--yes"], { stdio: ["inherit", "pipe", "inherit"] });
  const { code, stdout } = await waitForExit(child);
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
  const [file = "", ...args] = words.length === 1 ? ["sh", "-c", line] : words;
  const child = spawn(file, args, { stdio: "inherit", env: { ...process.env, ...env } });
  return (await waitForExit(child)).code;
}

/**
 * Waits for a process, and forwards signals to it. At a terminal, Ctrl+C reaches the whole process group without this.
 */
async function waitForExit(child: ChildProcess): Promise<{ code: number; stdout: string }> {
  const forwardSignal = (name: NodeJS.Signals) => {
    if (name !== "SIGINT" || !process.stdin.isTTY) child.kill(name);
  };
  for (const name of ENDINGS) process.on(name, forwardSignal);
  try {
    return await readUntilExit(child);
  } finally {
    for (const name of ENDINGS) process.off(name, forwardSignal);
  }
}

/** A program that cannot be started counts as exit code 127, as in shells. */
function readUntilExit(child: ChildProcess): Promise<{ code: number; stdout: string }> {
  let stdout = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  return new Promise((resolve) => {
    child.on("error", (error) => {
      if (child.pid !== undefined) return; // a signal could not be sent
      printMessage(`cannot start a program: ${error.message}`);
      resolve({ code: 127, stdout });
    });
    child.on("close", (code, signal) => {
      resolve({ code: code ?? 128 + constants.signals[signal ?? "SIGTERM"], stdout });
    });
  });
}
