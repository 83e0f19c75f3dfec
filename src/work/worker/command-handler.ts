import { formatDuration } from "../../base/duration.ts";
import { EXIT, SignalboxError } from "../../base/errors.ts";
import { type Handler, type Task, TaskLost, type Verdict } from "../schedule/handler.ts";
import { type Ended, GuardedRun } from "./guarded-run.ts";
import { markOf, Output } from "./output.ts";
import type { HandlerPorts } from "./ports.ts";
import { taskEnv, taskText } from "./task-text.ts";

/** How long what a command wrote may take to arrive when nothing is left of it, ms. */
const LAST_OUTPUT = 2_000;

/** How a handler runs a command. Durations in ms. */
export interface CommandOptions {
  /** As argv. */
  command: readonly string[];
  env?: Readonly<Record<string, string>> | undefined;
  /** Where the definition has none of its own. */
  timeout?: number | undefined;
  /** Before the next start of what asked for another one with exit code 75. */
  retryWait?: number | undefined;
  /** Its standard output ends with its word on how it came out, behind `markOf` the run. */
  hasWord?: true;
}

/** How the run of a command came out, with what it said. */
export interface Report {
  verdict: Verdict;
  word: string | undefined;
}

/**
 * Runs tasks as a command under the guardian: 0 is well, 75 asks for another start, any other code is a failure. The verdict
 * comes when nothing of the command is left.
 */
export class CommandHandler implements Handler {
  readonly #ports: HandlerPorts;
  readonly #options: CommandOptions;

  constructor(ports: HandlerPorts, options: CommandOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  async run(task: Task): Promise<Verdict> {
    return (await this.report(task)).verdict;
  }

  /** Runs it. Rejects never for what a command can do. */
  async report(task: Task): Promise<Report> {
    const { log, secrets } = this.#ports;
    const mark = this.#options.hasWord && markOf(task.run);
    const onLine = (line: string) => log.info("output", { schedule: task.id, run: task.run, line });
    const output = new Output({ secrets, onLine, mark });
    const verdict = await this.#verdict(task, output).catch((error) => unstarted(task, error));
    const tail = output.tail();
    return { verdict: { ...verdict, ...(tail !== undefined && { tail }) }, word: output.word };
  }

  async #verdict(task: Task, output: Output): Promise<Verdict> {
    const [file = "", ...args] = this.#options.command;
    const silent = Promise.withResolvers<void>();
    const streams = {
      input: taskText(task),
      onOutput: (chunk: Buffer, descriptor: 1 | 2) => output.take(chunk, descriptor),
      onEnd: () => silent.resolve(),
    };
    const env = { ...this.#ports.env, ...this.#options.env, ...task.definition.env };
    const own = taskEnv(task, this.#ports.host);
    const timeout = task.definition.timeout ?? this.#options.timeout;
    const run = new GuardedRun(this.#ports, task);
    const ended = await run.run({ file, args, env, streams }, own, timeout);
    await this.#within(silent.promise); // whoever could write is gone, so that it ends
    output.end();
    return this.#judged(task, ended, timeout);
  }

  /** Should somebody who is none of the command's have been handed its output, nobody waits for that one. */
  async #within(end: Promise<void>): Promise<void> {
    const over = new AbortController();
    await Promise.race([end, this.#ports.clock.sleep(LAST_OUTPUT, over.signal).catch(() => {})]);
    over.abort();
  }

  #judged(task: Task, { exit, ending }: Ended, timeout: number | undefined): Verdict {
    const { code, signal } = exit;
    if (ending === "task") return lost(task.signal.reason);
    if (ending === "horizon") return { result: "lost", reason: "the session could not be renewed in time" };
    if (ending === "timeout")
      return { result: "timeout", reason: `its timeout of ${formatDuration(timeout ?? 0)} has passed` };
    if (signal !== undefined)
      return { result: "failed", code: 128 + signal, reason: `it was ended by signal ${signal}` };
    if (code === EXIT.ok) return { result: "ok", code };
    if (code === EXIT.busy) return { result: "retry", code, ...waitOf(this.#options.retryWait) };
    return { result: "failed", code: code ?? EXIT.internal, reason: `exit code ${code}` };
  }
}

/** How a task ends that was ended from without. */
export function lost(reason: unknown): Verdict {
  if (reason instanceof TaskLost) return { result: reason.result, reason: reason.message };
  return { result: "lost", reason: reason instanceof Error ? reason.message : String(reason) };
}

/** What kept a command from starting: the task's end, a deadline, or the command itself. */
function unstarted(task: Task, error: unknown): Verdict {
  if (task.signal.aborted) return lost(task.signal.reason);
  if (!(error instanceof Error)) return { result: "failed", reason: String(error) };
  const { message: reason } = error;
  if (!(error instanceof SignalboxError)) return { result: "failed", reason };
  if (error.exitCode === EXIT.lost) return { result: "released", reason };
  return { result: "failed", code: error.exitCode, reason };
}

function waitOf(wait: number | undefined): Pick<Verdict, "wait"> {
  return wait === undefined ? {} : { wait };
}
