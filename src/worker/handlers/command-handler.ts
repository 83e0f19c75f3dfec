import { userInfo } from "node:os";
import {
  addMs,
  formatDuration,
  type Millis,
  pickEarlier,
  raceAbort,
  waitAtMost,
} from "../../core/base/clock.ts";
import { containCommand, describeContainer } from "../../core/base/container.ts";
import { EXIT, SignalboxError } from "../../core/base/errors.ts";
import { pickDefined } from "../../core/base/pick-defined.ts";
import { collectTexts } from "../../core/base/text.ts";
import type { CommandExit, CommandSpec, GuardedCommand } from "../../core/process/guarded-command/command.ts";
import { canBecomeUsers, readUserAccount, type UserAccount } from "../../core/process/user-account.ts";
import type { SecretSpec } from "../file/secret-schema.ts";
import { type Handler, type ScheduledTask, TaskLost, type TaskResult } from "../handler.ts";
import type { HandlerPorts } from "../worker-ports.ts";
import { createRecordedOutput, formatMark, type RecordedOutput } from "./recorded-output.ts";
import { readSecretFile, readSecretValue, type SecretValue } from "./secrets.ts";
import { openTaskFiles } from "./task-files.ts";
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
  /** The user of the schedule's command. Default: the worker's. */
  user?: string | undefined;
  /** Where the values of variables are. */
  secrets?: Readonly<Record<string, SecretSpec>>;
  /** Where the contents of files are whose paths are the values of variables. */
  secretFiles?: Readonly<Record<string, SecretSpec>>;
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
    const secrets = tryRead(() => readTaskSecrets(this.#options));
    const masks = secrets instanceof Error ? [] : secrets.masks;
    const output = createRecordedOutput(this.#ports, task, { mark, secrets: masks });
    const running =
      secrets instanceof Error ? Promise.reject(secrets) : this.#runGuarded(task, output, secrets);
    const verdict = await running.catch((error) => this.#toUnstartedResult(task, error));
    const tail = output.close();
    return { verdict: { ...verdict, ...(tail !== undefined && { tail }) }, word: output.getWord() };
  }

  async #runGuarded(task: ScheduledTask, output: RecordedOutput, secrets: TaskSecrets): Promise<TaskResult> {
    const { input = serializeTask(task), env: own, container: rule } = task.definition;
    const { command, user: name } = this.#options;
    const account =
      name === undefined ? undefined : await readUserAccount(name, this.#ports.env, task.signal);
    const folder = task.definition.folder ?? (account && "~"); // where cron starts it
    const base = account === undefined ? this.#ports.env : buildLoginEnv(account, this.#ports.env);
    const given = { ...base, ...this.#options.env, ...own };
    const container = describeContainer(command, rule, (text) =>
      this.#ports.log.warn(text, { schedule: task.id, run: task.run }),
    );
    const words = rule === undefined ? command : containCommand(command);
    const [file = "", ...args] = buildArgv(words, folder, given.HOME);
    const user = account && canBecomeUsers() ? account : undefined;
    const silent = Promise.withResolvers<void>();
    const streams = {
      input,
      onOutput: (chunk: Buffer, descriptor: 1 | 2) => output.take(chunk, descriptor),
      onEnd: () => silent.resolve(),
    };
    const { TRACESTATE: _, ...env } = given; // only that of the trace of this task
    const timeout = task.definition.timeout ?? this.#options.timeout;
    const opening = openTaskFiles(this.#ports, task, { user, secrets: secrets.files });
    let ended: GuardedRunResult;
    try {
      const files = await raceAbort(opening, task.signal); // the disk may not answer
      const taskEnv = { ...secrets.variables, ...buildTaskEnv(task, this.#ports.host), ...files?.env };
      const spec = { file, args, env, streams, ...pickDefined({ container, user }) };
      ended = await runGuarded(this.#ports, task, spec, taskEnv, timeout);
      const isDone = ended.ending === undefined && ended.exit.code === EXIT.ok;
      if (files !== undefined && !isDone) await waitAtMost(this.#ports.clock, LAST_READ, files.readLast());
    } finally {
      opening.then((files) => files?.close()).catch(doNothing); // the result does not wait for the disk
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
    const { command, user } = this.#options;
    const isRelative = /^[^/]+\//.test(command[0] ?? "") && user === undefined;
    const reason = isRelative ? `${message}; the worker's working folder is ${process.cwd()}` : message;
    return { result: "failed", code: error.exitCode, reason };
  }
}

/** The secrets of one task. */
interface TaskSecrets {
  variables: Readonly<Record<string, string>>;
  /** Contents of files, by the variable that names the file. */
  files: Readonly<Record<string, string>>;
  /** Texts that must not appear in output. */
  masks: readonly string[];
}

/** @throws ConfigError */
function readTaskSecrets({ secrets = {}, secretFiles = {} }: CommandHandlerOptions): TaskSecrets {
  const variables = Object.entries(secrets).map(
    ([name, spec]) => [name, readSecretValue(spec, "in secrets")] as const,
  );
  const files = Object.entries(secretFiles).map(
    ([name, spec]) => [name, readSecretFile(spec, "in secrets")] as const,
  );
  const pickValues = (all: readonly (readonly [string, SecretValue])[]) =>
    Object.fromEntries(all.map(([name, { value }]) => [name, value]));
  return {
    variables: pickValues(variables),
    files: pickValues(files),
    masks: [...variables, ...files].flatMap(([, { masks }]) => masks),
  };
}

function tryRead<T>(read: () => T): T | Error {
  try {
    return read();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Builds the environment that cron gives to a user's command. The language is that of the host, as systemd or PAM set it. */
function buildLoginEnv({ name, home }: UserAccount, { LANG }: HandlerPorts["env"]): HandlerPorts["env"] {
  return {
    HOME: home,
    LOGNAME: name,
    USER: name,
    SHELL: "/bin/sh",
    PATH: "/usr/bin:/bin",
    ...(LANG && { LANG }),
  };
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
