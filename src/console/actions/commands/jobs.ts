import type { Clock } from "../../../base/clock.ts";
import { clean } from "../../../base/text.ts";
import { executeCommand } from "../../../commands/command-line/execute-command.ts";
import type { Call, Command, CommandIo } from "../../../commands/spec.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import { createCapturingIo } from "./capturing-io.ts";

/** A command that runs or has ended. */
export interface ConsoleJob {
  readonly id: number;
  readonly command: Command;
  /** The words after the command's name. */
  readonly words: readonly string[];
  /** The same command as a line for a shell. */
  readonly line: string;
  /** A title for the user. */
  readonly title: string;
  /** Opens the dialog again with all values kept, for a job that was refused. */
  readonly reopen?: (() => void) | undefined;
  /** The last lines of its output. */
  readonly lines: readonly string[];
  /** Exit code; undefined while the job runs. */
  readonly code: number | undefined;
  /** Wall clock, ms since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number | undefined;
}

/** A command line as it was previewed. */
export type JobRequest = Pick<ConsoleJob, "command" | "words" | "line" | "title" | "reopen">;

/** Maximum number of jobs kept, and of lines kept for each. */
const MOST_JOBS = 200;
const MOST_LINES = 200;

interface JobPorts {
  io: CommandIo;
  clock: Clock;
  /** The connection settings of the console itself. */
  settings: Call["settings"];
  onChange(): void;
  /** Returns the displayed snapshot, or undefined if it is not live. */
  getSnapshot(): Snapshot | undefined;
}

/** Runs the commands started from the console. They continue while the user does other things. */
export class Jobs {
  readonly #ports: JobPorts;
  readonly #stops = new Map<number, AbortController>();
  #list: readonly ConsoleJob[] = [];
  #next = 1;

  constructor(ports: JobPorts) {
    this.#ports = ports;
  }

  /** Newest first. */
  get list(): readonly ConsoleJob[] {
    return this.#list;
  }

  get running(): readonly ConsoleJob[] {
    return this.#list.filter(({ code }) => code === undefined);
  }

  /** Starts a command. Never fails: the result is in the job. */
  start(request: JobRequest): { job: ConsoleJob; done: Promise<ConsoleJob> } {
    const { clock } = this.#ports;
    const now = clock.getWallTime();
    const job: ConsoleJob = {
      ...{ ...request, id: this.#next, lines: [], code: undefined, startedAt: now, endedAt: undefined },
    };
    this.#next += 1;
    this.#list = [job, ...this.#list].slice(0, MOST_JOBS);
    this.#ports.onChange();
    return { job, done: this.#run(job) };
  }

  /** Interrupts a job, as Ctrl+C would. What it has already written to etcd stays. */
  interrupt(id: number): void {
    this.#stops.get(id)?.abort();
  }

  async #run(job: ConsoleJob): Promise<ConsoleJob> {
    const stop = new AbortController();
    this.#stops.set(job.id, stop);
    const writeLine = (text: string) => this.#appendLine(job.id, text);
    const code = await this.perform(job.command, job.words, { writeLine, signal: stop.signal });
    this.#stops.delete(job.id);
    return this.#updateJob(job.id, { code, endedAt: this.#ports.clock.getWallTime() }) ?? { ...job, code };
  }

  /** Runs a command without creating a job. @returns its exit code */
  perform(
    command: Command,
    words: readonly string[],
    capture: { writeLine(text: string, stream: "out" | "err"): void; signal: AbortSignal },
  ): Promise<number> {
    const { io, settings, getSnapshot } = this.#ports;
    return executeCommand(command, words, createCapturingIo(io, { ...capture, getSnapshot }), {
      settings,
    });
  }

  #appendLine(id: number, text: string): void {
    const line = clean(text).replace(/^signalbox: /, "");
    const known = this.#list.find((job) => job.id === id);
    if (known !== undefined) this.#updateJob(id, { lines: [...known.lines, line].slice(-MOST_LINES) });
  }

  #updateJob(id: number, change: Partial<ConsoleJob>): ConsoleJob | undefined {
    this.#list = this.#list.map((job) => (job.id === id ? { ...job, ...change } : job));
    this.#ports.onChange();
    return this.#list.find((job) => job.id === id);
  }
}
