import type { CommandExit, CommandSpec, GuardedCommand } from "../../process/command.ts";
import type { Task } from "../schedule/handler.ts";
import type { HandlerPorts } from "./ports.ts";

/** Why a command was ended before its time. */
export type Ending = "task" | "timeout" | "horizon";

/** How a command ended of which nothing is left. */
export interface Ended {
  exit: CommandExit;
  ending: Ending | undefined;
}

/** A command under the guardian for one task: its deadlines are those of the task, wherever these move. */
export class GuardedRun {
  readonly #ports: HandlerPorts;
  readonly #task: Task;
  readonly #over = new AbortController();
  #ending: Ending | undefined;

  constructor(ports: HandlerPorts, task: Task) {
    this.#ports = ports;
    this.#task = task;
  }

  /**
   * Runs it and stays until nothing of it is left.
   * @param timeout  ms until it is told to end
   * @throws SignalboxError when it could not be started; the task's reason when that ended before
   */
  async run(spec: CommandSpec, env: Record<string, string>, timeout: number | undefined): Promise<Ended> {
    const { commands } = this.#ports;
    this.#task.signal.throwIfAborted();
    const command = await commands.prepare(spec);
    try {
      return await this.#started(command, env, timeout);
    } catch (error) {
      await command.release();
      throw error;
    }
  }

  async #started(
    command: GuardedCommand,
    env: Record<string, string>,
    timeout: number | undefined,
  ): Promise<Ended> {
    const arm = () => command.arm({ termAt: this.#termAt(), killAt: this.#task.horizon() });
    const disarm = this.#task.onExtended(arm);
    try {
      await this.#enoughHorizon();
      arm();
      await command.start(env);
      this.#guard(command, timeout);
      return await this.#ended(command);
    } finally {
      disarm();
      this.#over.abort();
    }
  }

  #termAt(): number {
    return this.#task.horizon() - this.#ports.terminationTimeout;
  }

  /** A command that would have to be ended at once is not started: the next renewal makes room, or the task ends. */
  async #enoughHorizon(): Promise<void> {
    const { clock } = this.#ports;
    while (this.#termAt() <= clock.now()) await clock.sleep(100, this.#task.signal);
    this.#task.signal.throwIfAborted();
  }

  #guard(command: GuardedCommand, timeout: number | undefined): void {
    const { clock } = this.#ports;
    const { signal } = this.#task;
    const end = (ending: Ending) => this.#terminate(command, ending);
    if (timeout !== undefined) clock.sleep(timeout, this.#over.signal).then(() => end("timeout"), nothing);
    signal.addEventListener("abort", () => end("task"), { once: true, signal: this.#over.signal });
    if (signal.aborted) end("task");
  }

  #terminate(command: GuardedCommand, ending: Ending): void {
    if (this.#ending !== undefined || this.#over.signal.aborted) return;
    this.#ending = ending;
    command.terminate(this.#killAt());
  }

  #killAt(): number {
    return Math.min(this.#ports.clock.now() + this.#ports.terminationTimeout, this.#task.horizon());
  }

  /** What its first process left behind is ended too: an occurrence that is over must not go on beside the next one. */
  async #ended(command: GuardedCommand): Promise<Ended> {
    const exit = await command.exited;
    this.#over.abort(); // its own end, or the ending that stands by now, is what counts
    if (exit.leftovers && !exit.terminated) command.terminate(this.#killAt());
    await command.gone;
    return { exit, ending: this.#ending ?? (exit.terminated ? "horizon" : undefined) };
  }
}

const nothing = () => {};
