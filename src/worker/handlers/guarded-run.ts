import type { CommandExit, CommandSpec, GuardedCommand } from "../../process/guarded-command/command.ts";
import type { ScheduledTask } from "../handler.ts";
import type { HandlerPorts } from "./handler-ports.ts";

/** Why a command was ended early. */
type TerminationCause = "task" | "timeout" | "horizon";

/** The result of a command after all its processes are gone. */
export interface GuardedRunResult {
  exit: CommandExit;
  ending: TerminationCause | undefined;
}

/** Runs a command under the guardian for one task. Its deadlines follow the deadlines of the task when they move. */
export class GuardedRun {
  readonly #ports: HandlerPorts;
  readonly #task: ScheduledTask;
  readonly #over = new AbortController();
  #ending: TerminationCause | undefined;

  constructor(ports: HandlerPorts, task: ScheduledTask) {
    this.#ports = ports;
    this.#task = task;
  }

  /**
   * Runs the command and waits until all its processes are gone.
   * @param timeout  ms until the command is terminated
   * @throws SignalboxError when the command could not be started; the task's reason when the task ended before
   */
  async run(
    spec: CommandSpec,
    env: Record<string, string>,
    timeout: number | undefined,
  ): Promise<GuardedRunResult> {
    const { commands } = this.#ports;
    this.#task.signal.throwIfAborted();
    const command = await commands.prepare(spec);
    try {
      return await this.#runToEnd(command, env, timeout);
    } catch (error) {
      await command.release();
      throw error;
    }
  }

  async #runToEnd(
    command: GuardedCommand,
    env: Record<string, string>,
    timeout: number | undefined,
  ): Promise<GuardedRunResult> {
    const arm = () => command.arm({ termAt: this.#getTermTime(), killAt: this.#task.getHorizon() });
    const disarm = this.#task.onExtended(arm);
    try {
      await this.#waitForHorizon();
      arm();
      await command.start(env);
      this.#guard(command, timeout);
      return await this.#waitForEnd(command);
    } finally {
      disarm();
      this.#over.abort();
    }
  }

  #getTermTime(): number {
    return this.#task.getHorizon() - this.#ports.terminationTimeout;
  }

  /**
   * Waits until the command has time to run. A command that would be terminated at once is not started: either the next
   * renewal extends the time, or the task ends.
   */
  async #waitForHorizon(): Promise<void> {
    const { clock } = this.#ports;
    while (this.#getTermTime() <= clock.now()) await clock.sleep(100, this.#task.signal);
    this.#task.signal.throwIfAborted();
  }

  #guard(command: GuardedCommand, timeout: number | undefined): void {
    const { clock } = this.#ports;
    const { signal } = this.#task;
    const end = (ending: TerminationCause) => this.#terminate(command, ending);
    if (timeout !== undefined) clock.sleep(timeout, this.#over.signal).then(() => end("timeout"), doNothing);
    signal.addEventListener("abort", () => end("task"), { once: true, signal: this.#over.signal });
    if (signal.aborted) end("task");
  }

  #terminate(command: GuardedCommand, ending: TerminationCause): void {
    if (this.#ending !== undefined || this.#over.signal.aborted) return;
    this.#ending = ending;
    command.terminate(this.#computeKillTime());
  }

  #computeKillTime(): number {
    return Math.min(this.#ports.clock.now() + this.#ports.terminationTimeout, this.#task.getHorizon());
  }

  /** Also ends processes that the first process left behind: they must not continue while the next occurrence runs. */
  async #waitForEnd(command: GuardedCommand): Promise<GuardedRunResult> {
    const exit = await command.exited;
    this.#over.abort(); // later events must not change the reason
    if (exit.leftovers && !exit.terminated) command.terminate(this.#computeKillTime());
    await command.gone;
    return { exit, ending: this.#ending ?? (exit.terminated ? "horizon" : undefined) };
  }
}

const doNothing = () => {};
