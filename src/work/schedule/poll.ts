import type { Definition } from "../../schedule/definition.ts";
import { follow } from "../observe/follow.ts";
import { Agenda } from "./agenda.ts";
import { Book, type BookListener } from "./book.ts";
import { candidateOf } from "./candidate.ts";
import { type ClaimContext, claim } from "./claim.ts";
import type { Entry } from "./entry.ts";
import { PolledTask } from "./polled-task.ts";
import type { SchedulePorts } from "./ports.ts";
import { Presence } from "./presence.ts";
import { noted } from "./settle.ts";

export interface PollOptions {
  host: string;
  pid: number;
  version: string;
  /** Of the session, whole seconds. */
  ttl: number;
  /**
   * What a task gets between two heartbeats before it is given back, ms. Default: heartbeats are sent by themselves, for as
   * long as the session is renewed.
   */
  aliveTime?: number;
  /** Whether a schedule is one that the program can run. Default: every one. */
  accepts?(definition: Definition): boolean;
}

/** Takes tasks one by one, for programs that run them themselves. */
export class Poller {
  readonly #ports: SchedulePorts;
  readonly #options: PollOptions;
  readonly #presence: Presence;
  readonly #book: Book;
  readonly #agenda = new Agenda();
  readonly #tasks = new Set<PolledTask>();
  readonly #over = new AbortController();
  readonly #read = Promise.withResolvers<void>();
  #following: Promise<void>;
  #blindness: unknown;

  /** @throws StoreError; the signal's reason */
  static async open(ports: SchedulePorts, options: PollOptions, signal: AbortSignal): Promise<Poller> {
    const { host, pid, version } = options;
    const record = () => ({
      ...{ host, pid, version, since: ports.clock.wall(), wall: ports.clock.wall(), beat: 1 },
      ...{ types: [], tags: [], running: 0, concurrency: 0, clock: "ok" as const },
    });
    const presence = await Presence.join(ports, options.ttl, record, signal);
    const poller = new Poller(ports, options, presence);
    await Promise.race([poller.#read.promise, poller.#following]);
    return poller;
  }

  private constructor(ports: SchedulePorts, options: PollOptions, presence: Presence) {
    this.#ports = ports;
    this.#options = options;
    this.#presence = presence;
    const listener: BookListener = {
      schedule: (entry) => this.#plan(entry),
      worker: () => {},
      rules: () => {},
    };
    this.#book = new Book(ports.keys, () => ports.clock.wall(), listener);
    this.#following = this.#watch();
  }

  /** Whether the session is lost: its tasks are others' then, and another poller must be opened. */
  get isLost(): boolean {
    return this.#presence.session.signal.aborted;
  }

  /**
   * Claims the task that has been due longest.
   * @returns undefined where nothing is due
   * @throws StoreError
   */
  async poll(): Promise<PolledTask | undefined> {
    this.#mustSee();
    await this.expire();
    const now = this.#ports.clock.wall();
    for (let id = this.#agenda.take(now); id !== undefined; id = this.#agenda.take(now)) {
      const task = await this.#take(id, now);
      if (task !== undefined) return task;
    }
    return undefined;
  }

  /** Gives back what had no heartbeat for too long. */
  async expire(): Promise<void> {
    const now = this.#ports.clock.wall();
    const late = [...this.#tasks].filter((task) => task.aliveUntil <= now);
    for (const task of late) await task.release("no heartbeat came in time").catch(() => {});
  }

  /** Gives back what is not finished, and ends the session. */
  async close(): Promise<void> {
    for (const task of [...this.#tasks]) await task.release("the program ends").catch(() => {});
    this.#over.abort(new Error("closed"));
    await this.#following.catch(() => {});
    await this.#presence.leave();
  }

  /** Follows what happens. One that ends, because etcd refuses for good, is told at the next poll, and begun again. */
  #watch(): Promise<void> {
    const over = AbortSignal.any([this.#presence.session.signal, this.#over.signal]);
    const following = this.#follow(over);
    following.catch((error) => {
      if (!over.aborted) this.#blindness = error;
    });
    return following;
  }

  #mustSee(): void {
    const error = this.#blindness;
    if (error === undefined) return;
    this.#blindness = undefined;
    this.#following = this.#watch();
    throw error;
  }

  async #take(id: string, now: number): Promise<PolledTask | undefined> {
    const entry = this.#book.entries.get(id);
    const candidate = entry && this.#candidate(entry, now);
    if (entry === undefined || candidate === undefined) return undefined;
    const { host, pid } = this.#options;
    const context: ClaimContext = {
      ports: this.#ports,
      presence: this.#presence,
      book: this.#book,
      host,
      pid,
    };
    const attempt = await claim(context, entry, candidate).catch((error) => {
      this.#agenda.set(id, now); // nothing has changed, so nothing would bring it back
      throw error;
    });
    if (attempt.kind !== "claimed") {
      if (attempt.kind === "missed") this.#agenda.set(id, now + 1); // what others did is told by the watch
      return undefined;
    }
    const task = new PolledTask(this.#ports, attempt.claimed, this.#options.aliveTime, {
      presence: this.#presence,
      settled: (how) => {
        this.#tasks.delete(task);
        noted(this.#book, this.#ports.keys, task.claimed, how);
      },
    });
    this.#tasks.add(task);
    if (this.#presence.session.horizon > this.#ports.clock.now()) return task;
    await task.release("the session may be over since the claim").catch(() => {}); // it is, then
    return undefined;
  }

  #plan(entry: Entry): void {
    this.#agenda.set(entry.id, this.#candidate(entry, this.#ports.clock.wall())?.runAt);
  }

  #candidate(entry: Entry, now: number): ReturnType<typeof candidateOf> {
    const { definition } = entry;
    if (definition === undefined || this.#options.accepts?.(definition) === false) return undefined;
    return candidateOf(this.#ports.keys, entry, now);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const news of follow(this.#ports, this.#book, signal)) {
      if (news.kind === "read") this.#read.resolve();
    }
  }
}
