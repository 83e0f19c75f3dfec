import { constants } from "node:fs";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { addMs, type Millis, pickEarlier } from "../../core/base/clock.ts";
import { containCommand, describeContainer } from "../../core/base/container.ts";
import { formatDuration } from "../../core/base/duration.ts";
import { EXIT, SignalboxError } from "../../core/base/errors.ts";
import { pickDefined } from "../../core/base/pick-defined.ts";
import { collectTexts } from "../../core/base/text.ts";
import { raceAbort, waitAtMost } from "../../core/base/wait.ts";
import type { CommandExit, CommandSpec, GuardedCommand } from "../../core/process/guarded-command/command.ts";
import { LARGEST_CHECKPOINT } from "../../schedule/state/checkpoint.ts";
import { type Handler, type ScheduledTask, TaskLost, type TaskResult } from "../handler.ts";
import type { HandlerPorts } from "../worker-ports.ts";
import { createRecordedOutput, formatMark, type RecordedOutput } from "./recorded-output.ts";
import { buildTaskEnv, serializeTask } from "./task-input.ts";

/** How long to wait for the last output after all processes of a command are gone, ms. */
const LAST_OUTPUT = 2_000;

/** How long to wait for the disk, to read the last checkpoint of a command, ms. */
const LAST_READ = 2_000;

/** Options for running a command as a handler. Durations in ms. */
export interface CommandHandlerOptions {
  /** The command as argv. */
  command: readonly string[];
  env?: Readonly<Record<string, string>> | undefined;
  /** Used when the definition has no timeout. */
  timeout?: Millis | undefined;
  /** Delay before the next start after exit code 75. */
  retryWait?: Millis | undefined;
  /** The standard output ends with a result message, after `formatMark` of the run. */
  hasWord?: true;
}

/** The result of a command, and its result message. */
export interface CommandReport {
  verdict: TaskResult;
  word: string | undefined;
}

/**
 * Runs tasks as a command under the guardian. Exit code 0 is success, 75 asks for another start, any other code is a
 * failure. The result is available after all processes of the command are gone.
 */
export class CommandHandler implements Handler {
  readonly #ports: HandlerPorts;
  readonly #options: CommandHandlerOptions;

  constructor(ports: HandlerPorts, options: CommandHandlerOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  async run(task: ScheduledTask): Promise<TaskResult> {
    return (await this.runWithReport(task)).verdict;
  }

  /** Runs the task. Never rejects because of the command. */
  async runWithReport(task: ScheduledTask): Promise<CommandReport> {
    const mark = this.#options.hasWord && formatMark(task.run);
    const output = createRecordedOutput(this.#ports, task, { mark });
    const verdict = await this.#runGuarded(task, output).catch((error) =>
      this.#toUnstartedResult(task, error),
    );
    const tail = output.close();
    return { verdict: { ...verdict, ...(tail !== undefined && { tail }) }, word: output.getWord() };
  }

  async #runGuarded(task: ScheduledTask, output: RecordedOutput): Promise<TaskResult> {
    const { folder, input = serializeTask(task), env: own } = task.definition;
    const given = { ...this.#ports.env, ...this.#options.env, ...own };
    const { container: rule } = task.definition;
    const { command } = this.#options;
    const container = describeContainer(command, rule, (text) =>
      this.#ports.log.warn(text, { schedule: task.id, run: task.run }),
    );
    const words = rule === undefined ? command : containCommand(command);
    const [file = "", ...args] = buildArgv(words, folder, given.HOME);
    const silent = Promise.withResolvers<void>();
    const streams = {
      input,
      onOutput: (chunk: Buffer, descriptor: 1 | 2) => output.take(chunk, descriptor),
      onEnd: () => silent.resolve(),
    };
    const { TRACESTATE: _, ...env } = given; // only that of the trace of this task
    const timeout = task.definition.timeout ?? this.#options.timeout;
    const opening = openTaskFiles(this.#ports, task);
    let ended: GuardedRunResult;
    try {
      const files = await raceAbort(opening, task.signal); // the disk may not answer
      const taskEnv = { ...buildTaskEnv(task, this.#ports.host), ...files?.env };
      ended = await runGuarded(
        this.#ports,
        task,
        { file, args, env, streams, ...pickDefined({ container }) },
        taskEnv,
        timeout,
      );
      const isDone = ended.ending === undefined && ended.exit.code === EXIT.ok;
      if (files !== undefined && !isDone) await waitAtMost(this.#ports.clock, LAST_READ, files.readLast());
    } finally {
      void opening.then((files) => files?.close()); // the result does not wait for the disk
    }
    // No process can write any more, so the output ends, unless another program still has it open.
    await waitAtMost(this.#ports.clock, LAST_OUTPUT, silent.promise);
    output.end();
    const result = this.#toTaskResult(task, ended, timeout);
    if (!ended.hadLeftovers) return result;
    const { id: schedule, run } = task;
    this.#ports.log.warn(LEFTOVERS, { schedule, run });
    return { ...result, reason: collectTexts([result.reason, LEFTOVERS]).join("; ") };
  }

  #toTaskResult(
    task: ScheduledTask,
    { exit, ending }: GuardedRunResult,
    timeout: Millis | undefined,
  ): TaskResult {
    const { code, signal, why } = exit;
    if (ending === "horizon" && why !== undefined) return { result: "lost", reason: why };
    if (ending !== undefined)
      return toEndedResult(task, ending, `its timeout of ${formatDuration(timeout ?? 0)} has passed`);
    if (signal !== undefined)
      return { result: "failed", code: 128 + signal, reason: `it was ended by signal ${signal}` };
    if (code === EXIT.ok) return { result: "ok", code };
    const { retryWait: wait } = this.#options;
    if (code === EXIT.busy) return { result: "retry", code, ...(wait !== undefined && { wait }) };
    return { result: "failed", code: code ?? EXIT.internal, reason: `exit code ${code}` };
  }

  /** Returns the result when the command did not start: the task ended, a deadline passed, or the command is wrong. */
  #toUnstartedResult(task: ScheduledTask, error: unknown): TaskResult {
    if (task.signal.aborted) return toLostResult(task.signal.reason);
    if (!(error instanceof Error)) return { result: "failed", reason: String(error) };
    const { message } = error;
    if (!(error instanceof SignalboxError)) return { result: "failed", reason: message };
    if (error.exitCode === EXIT.lost) return { result: "released", reason: message };
    const isRelative = /^[^/]+\//.test(this.#options.command[0] ?? "");
    const reason = isRelative ? `${message}; the worker's working folder is ${process.cwd()}` : message;
    return { result: "failed", code: error.exitCode, reason };
  }
}

const LEFTOVERS = "it left processes in the background, which were ended";

/** A shell goes to the folder, in the command's own process: a file system that does not answer must not hold up the worker. */
const IN_FOLDER = 'cd -- "$0" && exec "$@"';

/** Builds the argv of a command that starts in a folder. @param home  its user's, for `~` */
function buildArgv(
  command: readonly string[],
  folder: string | undefined,
  home = userInfo().homedir,
): readonly string[] {
  return folder === undefined
    ? command
    : ["/bin/sh", "-c", IN_FOLDER, folder.replace(/^~/, () => home), ...command];
}

/** Returns the result of a task that its handler has ended early. */
export function toEndedResult(task: ScheduledTask, ending: TaskEnding, timeoutReason: string): TaskResult {
  if (ending === "timeout") return { result: ending, reason: timeoutReason };
  if (ending === "horizon") return { result: "lost", reason: "the session could not be renewed in time" };
  return toLostResult(task.signal.reason);
}

/** Returns the result of a task that was ended from outside. */
export function toLostResult(reason: unknown): TaskResult {
  if (reason instanceof TaskLost) return { result: reason.result, reason: reason.message };
  return { result: "lost", reason: reason instanceof Error ? reason.message : String(reason) };
}

/** Why a handler has ended a task early. */
export type TaskEnding = "task" | "timeout" | "horizon";

/** The result of a command after all its processes are gone. */
interface GuardedRunResult {
  exit: CommandExit;
  ending: TaskEnding | undefined;
  /** Processes were left in the background, and were ended. */
  hadLeftovers: boolean;
}

/**
 * Runs a command under the guardian for one task, and waits until all its processes are gone. Its deadlines follow those of the
 * task when they move.
 * @param timeout  ms until the command is terminated
 * @throws SignalboxError when the command could not be started; the task's reason when the task ended before
 */
async function runGuarded(
  ports: HandlerPorts,
  task: ScheduledTask,
  spec: CommandSpec,
  env: Record<string, string>,
  timeout: Millis | undefined,
): Promise<GuardedRunResult> {
  task.signal.throwIfAborted();
  const command = await ports.commands.prepare(spec);
  try {
    return await runToEnd(ports, task, command, env, timeout);
  } catch (error) {
    await command.release();
    throw error;
  }
}

async function runToEnd(
  { clock, terminationTimeout }: HandlerPorts,
  task: ScheduledTask,
  command: GuardedCommand,
  env: Record<string, string>,
  timeout: Millis | undefined,
): Promise<GuardedRunResult> {
  const { signal } = task;
  const over = new AbortController();
  let ending: TaskEnding | undefined;
  const getTermTime = () => addMs(task.getHorizon(), -terminationTimeout);
  const arm = () => command.arm({ termAt: getTermTime(), killAt: task.getHorizon() });
  const terminate = () =>
    command.terminate(pickEarlier(addMs(clock.now(), terminationTimeout), task.getHorizon()));
  const end = (cause: TaskEnding) => {
    if (ending !== undefined || over.signal.aborted) return;
    ending = cause;
    terminate();
  };
  const disarm = task.onExtended(arm);
  try {
    // A command that would be terminated at once is not started: either the next renewal extends the time, or the task ends.
    while (getTermTime() <= clock.now()) await clock.sleep(100, signal);
    signal.throwIfAborted();
    arm();
    await command.start(env);
    if (timeout !== undefined) clock.sleep(timeout, over.signal).then(() => end("timeout"), doNothing);
    signal.addEventListener("abort", () => end("task"), { once: true, signal: over.signal });
    if (signal.aborted) end("task");
    const exit = await command.exited;
    over.abort(); // later events must not change the reason
    // Processes that the first process left behind must not continue while the next occurrence runs.
    const hadLeftovers = exit.leftovers && !exit.terminated;
    if (hadLeftovers) terminate();
    await command.gone;
    return { exit, ending: ending ?? (exit.terminated ? "horizon" : undefined), hadLeftovers };
  } finally {
    disarm();
    over.abort();
  }
}

const doNothing = () => {};

/** How often the files are read, ms. */
const READ_EVERY = 1_000;
/** What is read of the progress, bytes. */
const PROGRESS_BYTES = 1_024;

/**
 * The files in which the command of a task says how far it is, in a private directory: its progress, for people, and its
 * checkpoint, for the next start. They are read while they change.
 */
interface TaskFiles {
  /** The variables that name the files. */
  readonly env: Record<string, string>;
  /** Reads the checkpoint once more, when the command has ended. The task saves it. */
  readLast(): Promise<void>;
  /** Removes the files with their directory. */
  close(): Promise<void>;
}

/**
 * Creates the directory, with the checkpoint of an earlier start.
 * @returns undefined if that is not possible, for example on a full disk: the command runs without it
 */
export async function openTaskFiles(
  ports: HandlerPorts,
  task: ScheduledTask,
): Promise<TaskFiles | undefined> {
  const { checkpoint, id: schedule } = task;
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), "signalbox-task-"));
    if (checkpoint !== undefined)
      await writeFile(join(folder, "checkpoint"), checkpoint, { mode: 0o600, flag: "wx" });
    return followTaskFiles(ports, task, folder);
  } catch (error) {
    const told = { schedule, error: String(error) };
    if (checkpoint === undefined) ports.log.debug("no files for progress and checkpoint", told);
    else ports.log.warn("the command does not get its checkpoint, and begins from the start", told);
    if (folder !== undefined) await removeFolder(folder);
    return undefined;
  }
}

function followTaskFiles({ clock, log }: HandlerPorts, task: ScheduledTask, folder: string): TaskFiles {
  const [progressFile, checkpointFile] = [join(folder, "progress"), join(folder, "checkpoint")];
  const over = new AbortController();
  let isClosed = false;
  let progress: string | undefined;
  let { checkpoint } = task;
  /** Why a checkpoint is not kept, each reason once. */
  const faults = new Set<string>();

  const reportFault = (why: string) => {
    if (faults.has(why)) return;
    faults.add(why);
    const { id: schedule, run } = task;
    log.warn("a checkpoint is not kept, an earlier one stays", { schedule, run, why });
  };

  const readProgress = async () => {
    // The command may not have written it yet.
    const bytes = await readStart(progressFile, PROGRESS_BYTES).catch(() => undefined);
    const text = bytes?.toString("utf8");
    if (text !== undefined && text !== progress) task.reportProgress(text);
    progress = text;
  };

  const readCheckpoint = async () => {
    let text: string;
    try {
      const bytes = await readStart(checkpointFile, LARGEST_CHECKPOINT + 1);
      if (bytes.length > LARGEST_CHECKPOINT)
        return reportFault(`it is larger than ${LARGEST_CHECKPOINT} bytes`);
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") reportFault(FAULTS[code ?? ""] ?? message);
      return;
    }
    // A shell empties the file before it writes it. After a success, a checkpoint that was read late must not be saved.
    if (text === "" || text === checkpoint || isClosed) return;
    checkpoint = text;
    void task.saveCheckpoint(text).catch((error: Error) => {
      reportFault(error.message);
      if (checkpoint === text) checkpoint = undefined; // saved again at the next look
    });
  };

  const follow = async () => {
    for (;;) {
      await clock.sleep(READ_EVERY, over.signal).catch(() => {});
      if (over.signal.aborted) return;
      await readProgress();
      await readCheckpoint();
    }
  };

  const reading = follow();
  const stop = async () => {
    over.abort(new Error("the command has ended"));
    await reading;
  };
  return {
    env: { SIGNALBOX_PROGRESS_FILE: progressFile, SIGNALBOX_CHECKPOINT_FILE: checkpointFile },
    async readLast() {
      await stop();
      await readCheckpoint();
    },
    async close() {
      isClosed = true;
      await stop();
      await removeFolder(folder);
    },
  };
}

async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {});
}

const FAULTS: Readonly<Record<string, string>> = {
  ELOOP: "the file is a symbolic link; write or rename a file there",
  ERR_ENCODING_INVALID_ENCODED_DATA: "it is not text in UTF-8",
};

async function readStart(path: string, most: number): Promise<Buffer> {
  // The command may have put something else there: a pipe would block a thread, a link lead elsewhere.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    if (!(await file.stat()).isFile()) throw new Error("it is not a file");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
