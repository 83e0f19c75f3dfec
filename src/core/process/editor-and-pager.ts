import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { EXIT } from "../base/errors.ts";

/** The end of a program that the user has chosen. */
type ProgramResult = { ok: true } | { ok: false; why: string };

/**
 * Runs the user's editor on a file, on this process's terminal, and waits for its end. Uses no shell: $EDITOR is a
 * path, or words separated by spaces (`code --wait`).
 * @param signal  ends the editor
 */
export async function runEditor(command: string, file: string, signal: AbortSignal): Promise<ProgramResult> {
  const [program, ...words] = splitCommand(command);
  if (program === undefined) return { ok: false, why: "no editor is set; set EDITOR" };
  const child = spawn(program, [...words, file], { stdio: "inherit" });
  const explain = ({ message }: Error) => `the editor cannot be started: ${message}`;
  return await waitForEnd(child, "close", `the editor ${program}`, explain, signal);
}

/** The pager if $PAGER is not set. It interprets colours, and no other sequences. */
export const USUAL_PAGER = "less -R";

/**
 * Shows a text in the user's pager, on this process's terminal, and waits for its end. Uses no shell: the command is a
 * path, or words separated by spaces. The pager may end before it has read everything.
 * @param signal  ends the pager
 */
export async function runPager(command: string, text: string, signal: AbortSignal): Promise<ProgramResult> {
  const [program, ...words] = splitCommand(command);
  if (program === undefined) return { ok: false, why: "no pager is set; set PAGER" };
  // With -F, which many users set in $LESS, less would exit after a short text before the user sees it.
  const more = basename(program) === "less" ? ["-+F"] : [];
  const child = spawn(program, [...words, ...more], { stdio: ["pipe", "inherit", "inherit"] });
  child.stdin.on("error", () => {}); // the pager may end before it has read everything
  child.stdin.end(text);
  const explain = ({ code, message }: NodeJS.ErrnoException) =>
    `no pager ${program} (${code ?? message}); set PAGER`;
  const ended = waitForEnd(child, "exit", `the pager ${program}`, explain, signal);
  return await ended.finally(() => child.stdin.destroy());
}

/** A program with its arguments, and variables in addition to those of this process. */
interface UserProgram {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
}

/** Runs a program on this process's terminal, and waits for its end. @param signal  ends it */
export async function runOnTerminal({ argv, env }: UserProgram, signal: AbortSignal): Promise<ProgramResult> {
  const [program, ...words] = argv;
  const child = spawn(program, words, { stdio: "inherit", env: { ...process.env, ...env } });
  return await waitForEnd(child, "close", "the command", ({ message }) => message, signal);
}

/** How long to wait for the last output of a program that was stopped, ms. */
const LAST_OUTPUT = 250;

/**
 * Runs a program without a terminal, and passes on its output line by line. When the signal is aborted, the program and all
 * processes in its group get SIGTERM. Never rejects.
 * @returns its exit code, as a shell reports it
 */
export function runCaptured(
  { argv, env }: UserProgram,
  { writeLine, signal }: { writeLine(text: string, stream: "out" | "err"): void; signal: AbortSignal },
): Promise<number> {
  const [program, ...words] = argv;
  const child = spawn(program, words, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    detached: true, // a group of its own, which the signal below ends as a whole
  });
  createInterface(child.stdout).on("line", (line) => writeLine(line, "out"));
  createInterface(child.stderr).on("line", (line) => writeLine(line, "err"));
  const stop = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    } catch {
      // The group has ended. Processes that have left it must not keep the output open.
      child.stdout.destroy();
      child.stderr.destroy();
    }
  };
  let repeated: NodeJS.Timeout | undefined;
  const stopUntilClosed = () => {
    stop();
    const stopRest = () => (child.exitCode ?? child.signalCode) !== null && stop();
    repeated = setInterval(stopRest, LAST_OUTPUT).unref();
  };
  signal.addEventListener("abort", stopUntilClosed, { once: true });
  return new Promise((ended) => {
    child.once("error", ({ message }) => {
      writeLine(message, "err");
      ended(EXIT.notFound);
    });
    child.once("close", (code, name) => {
      signal.removeEventListener("abort", stopUntilClosed);
      clearInterval(repeated);
      ended(code ?? 128 + (constants.signals[name ?? "SIGTERM"] ?? 0));
    });
  });
}

function splitCommand(command: string): string[] {
  return existsSync(command) ? [command] : command.split(/\s+/).filter(Boolean);
}

/**
 * Waits until a program ends. Never rejects.
 * @param event    the event that counts as the end
 * @param explain  returns why the program could not be started
 */
async function waitForEnd(
  child: ChildProcess,
  event: "close" | "exit",
  name: string,
  explain: (error: Error) => string,
  signal: AbortSignal,
): Promise<ProgramResult> {
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await new Promise((ended) => {
      child.once("error", (error) => ended({ ok: false, why: explain(error) }));
      child.once(event, (code: number | null, signalName: NodeJS.Signals | null) => {
        ended(code === 0 ? { ok: true } : { ok: false, why: `${name} ended with ${signalName ?? code}` });
      });
    });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
