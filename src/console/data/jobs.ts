import type { Call, Command, CommandIo } from "../../cli/frame/command.ts";
import { type CommandEnd, performCommand } from "../../cli/frame/command-line/execute-command.ts";
import type { ActionOutcome } from "../../cli/frame/outcome.ts";
import { listOutcomeLines } from "../../cli/frame/print-outcome.ts";
import type { Clock, WallTime } from "../../core/base/clock.ts";
import type { Finding } from "../../core/base/finding.ts";
import { clean } from "../../core/base/text.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import type { StyleRole } from "../theme/palettes.ts";

/** A command that runs or has ended. */
export interface ConsoleJob {
  readonly id: number;
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
  /** The result of the command; undefined while it runs, and if it failed with a message. */
  readonly outcome?: ActionOutcome | undefined;
  readonly startedAt: WallTime;
  readonly endedAt: WallTime | undefined;
}

/** The command or program that a job runs. */
export interface JobRequest extends Pick<ConsoleJob, "line" | "title" | "reopen"> {
  /** Never rejects. */
  run(capture: JobCapture): Promise<CommandEnd>;
}

/** Receives the output of a job, line by line. Its signal aborts when the user stops the job. */
interface JobCapture {
  writeLine(text: string, stream: "out" | "err"): void;
  /** Receives the findings of a check as they arrive. */
  reportFindings?(findings: readonly Finding[]): void;
  signal: AbortSignal;
}

/** Maximum number of jobs kept, and of lines kept for each. */
const MOST_JOBS = 200;
const MOST_LINES = 200;

/** Maximum number of commands that run at the same time for one dialog. */
export const AT_ONCE = 4;

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

  /** Runs a command until it ends. Never rejects: the result is in the job. */
  start({ run, ...request }: JobRequest): Promise<ConsoleJob> {
    const { clock } = this.#ports;
    const now = clock.getWallTime();
    const job: ConsoleJob = {
      ...request,
      id: this.#next,
      lines: [],
      code: undefined,
      startedAt: now,
      endedAt: undefined,
    };
    this.#next += 1;
    this.#list = [job, ...this.#list].slice(0, MOST_JOBS);
    this.#ports.onChange();
    return this.#run(job, run);
  }

  /** Interrupts a job, as Ctrl+C would. What it has already written to etcd stays. */
  interrupt(id: number): void {
    this.#stops.get(id)?.abort();
  }

  /** Interrupts all jobs: the console ends. */
  end(): void {
    for (const stop of this.#stops.values()) stop.abort();
  }

  async #run(job: ConsoleJob, run: JobRequest["run"]): Promise<ConsoleJob> {
    const stop = new AbortController();
    this.#stops.set(job.id, stop);
    const writeLine = (text: string) => this.#appendLine(job.id, text);
    const { exitCode: code, outcome } = await run({ writeLine, signal: stop.signal });
    for (const line of outcome === undefined ? [] : listOutcomeLines(outcome)) writeLine(line);
    this.#stops.delete(job.id);
    const ended = { code, outcome, endedAt: this.#ports.clock.getWallTime() };
    return this.#updateJob(job.id, ended) ?? { ...job, ...ended };
  }

  /** Runs a command without creating a job. The outcome of an acting command is not written as lines. */
  perform(command: Command, words: readonly string[], capture: JobCapture): Promise<CommandEnd> {
    const { io, settings, getSnapshot } = this.#ports;
    return performCommand(command, words, createCapturingIo(io, { ...capture, getSnapshot }), settings);
  }

  #appendLine(id: number, text: string): void {
    const line = clean(text);
    const known = this.#list.find((job) => job.id === id);
    if (known !== undefined) this.#updateJob(id, { lines: [...known.lines, line].slice(-MOST_LINES) });
  }

  #updateJob(id: number, change: Partial<ConsoleJob>): ConsoleJob | undefined {
    this.#list = this.#list.map((job) => (job.id === id ? { ...job, ...change } : job));
    this.#ports.onChange();
    return this.#list.find((job) => job.id === id);
  }
}

/** Receives the output of a command. When it is aborted, the command receives an interrupt. */
interface OutputCapture extends JobCapture {
  /** Returns the displayed snapshot for previews, or undefined if it is not live. */
  getSnapshot(): Snapshot | undefined;
}

/** Builds the io of a command that runs inside the console: no terminal, no prompts, and its output is captured. */
function createCapturingIo(io: CommandIo, { writeLine, signal, ...reports }: OutputCapture): CommandIo {
  const createLineSplitter = (stream: "out" | "err") => {
    let rest = "";
    return (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const one of lines) writeLine(one, stream);
      return true;
    };
  };
  const out = createLineSplitter("out");
  const err = createLineSplitter("err");
  return {
    env: io.env,
    writeOutput: out,
    ...reports,
    readInput: async () => "",
    writeError: (text) => void err(text),
    writeMessage: (line) => writeLine(line, "err"),
    onSignal(listener) {
      const notifyListener = () => listener("SIGINT");
      signal.addEventListener("abort", notifyListener);
      return () => signal.removeEventListener("abort", notifyListener);
    },
    terminal: {
      isOutput: () => false,
      canAsk: () => false,
      getSize: io.terminal.getSize,
      onResize: () => () => {},
      ask: async () => undefined,
    },
  };
}

export function describeJobState({ code }: ConsoleJob): { text: string; role: StyleRole } {
  if (code === undefined) return { text: "running", role: "waiting" };
  if (code === 0) return { text: "done   ", role: "held" };
  if (code === 75) return { text: "refused", role: "problem" };
  if (code === 124) return { text: "timeout", role: "problem" };
  if (code > 128) return { text: "stopped", role: "quiet" };
  return { text: `exit ${code}`.padEnd(7), role: "problem" };
}
