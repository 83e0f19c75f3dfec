import type { Clock } from "../../base/clock.ts";
import { clean } from "../../base/text.ts";
import { perform } from "../../commands/perform.ts";
import type { Call, Command, Surroundings } from "../../commands/spec.ts";
import type { Picture } from "../../model/picture.ts";
import { captured } from "./captured.ts";

/** A command under way, or done. */
export interface Job {
  readonly id: number;
  readonly command: Command;
  /** What stands after its name. */
  readonly words: readonly string[];
  /** The same as a line for a shell. */
  readonly line: string;
  /** What it is about, for people. */
  readonly title: string;
  /** What it has said, the last lines. */
  readonly lines: readonly string[];
  /** Undefined while it runs. */
  readonly code: number | undefined;
  /** Wall clocks, ms since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number | undefined;
}

/** Jobs that are remembered, and lines of each. */
const MOST_JOBS = 200;
const MOST_LINES = 200;

interface Ports {
  world: Surroundings;
  clock: Clock;
  /** How the console itself was told to reach etcd. */
  settings: Call["settings"];
  onChange(): void;
  /** What is on the screen; undefined where that is not live. */
  picture(): Picture | undefined;
}

/** Commands that were started from the console: they go on while the user looks elsewhere. */
export class Jobs {
  readonly #ports: Ports;
  readonly #stops = new Map<number, AbortController>();
  #list: readonly Job[] = [];
  #next = 1;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** The newest first. */
  get list(): readonly Job[] {
    return this.#list;
  }

  get running(): readonly Job[] {
    return this.#list.filter(({ code }) => code === undefined);
  }

  /** Starts a command. Never fails: how it went is in its job. */
  start(wish: Pick<Job, "command" | "words" | "line" | "title">): { job: Job; done: Promise<Job> } {
    const { clock } = this.#ports;
    const now = clock.wall();
    const job: Job = {
      ...{ ...wish, id: this.#next, lines: [], code: undefined, startedAt: now, endedAt: undefined },
    };
    this.#next += 1;
    this.#list = [job, ...this.#list].slice(0, MOST_JOBS);
    this.#ports.onChange();
    return { job, done: this.#run(job) };
  }

  /** Asks a job to end, as Ctrl+C would. What it has asked for in etcd stands. */
  interrupt(id: number): void {
    this.#stops.get(id)?.abort();
  }

  async #run(job: Job): Promise<Job> {
    const stop = new AbortController();
    this.#stops.set(job.id, stop);
    const line = (text: string) => this.#say(job.id, text);
    const code = await this.perform(job.command, job.words, { line, signal: stop.signal });
    this.#stops.delete(job.id);
    return this.#change(job.id, { code, endedAt: this.#ports.clock.wall() }) ?? { ...job, code };
  }

  /** Runs a command without making a job of it. @returns its exit code */
  perform(
    command: Command,
    words: readonly string[],
    capture: { line(text: string, stream: "out" | "err"): void; signal: AbortSignal },
  ): Promise<number> {
    const { world, settings, picture } = this.#ports;
    return perform(command, words, captured(world, { ...capture, picture }), { settings });
  }

  #say(id: number, text: string): void {
    const line = clean(text).replace(/^signalbox: /, "");
    const known = this.#list.find((job) => job.id === id);
    if (known !== undefined) this.#change(id, { lines: [...known.lines, line].slice(-MOST_LINES) });
  }

  #change(id: number, change: Partial<Job>): Job | undefined {
    this.#list = this.#list.map((job) => (job.id === id ? { ...job, ...change } : job));
    this.#ports.onChange();
    return this.#list.find((job) => job.id === id);
  }
}
