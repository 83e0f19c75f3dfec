import { isUnavailable } from "../../etcd/persist.ts";
import type { WorkerRecord } from "../../schedule/worker-record.ts";
import { follow } from "../observe/follow.ts";
import { Book, type BookListener } from "./book.ts";
import { CLOCK_LIMITS, type ClockLimits, Clocks } from "./clocks.ts";
import { Dispatcher, type DispatchOptions } from "./dispatch.ts";
import { TaskLost } from "./handler.ts";
import type { SchedulePorts } from "./ports.ts";
import { Presence } from "./presence.ts";

export interface LifeOptions extends DispatchOptions {
  host: string;
  pid: number;
  version: string;
  tags: readonly string[];
  /** Of the worker's session, whole seconds. */
  ttl: number;
  clockLimits?: ClockLimits;
}

/** Records are written this often, ms, give or take a tenth: others compare clocks by them. */
const BEAT = 15_000;
/** A worker that sees a new one says its time within this, ms, so that the new one knows how its own clock is. */
const GREET_WITHIN = 300;
/** Of a new worker: its first word, and one after it has read who is there, for two that join at once read of each other only. */
const ASKING_BEATS = 2;
/** A new worker waits so long for the others' time before it takes anything, ms. */
const LISTEN_FOR = 2_000;

/** A worker as long as one session of it lives. */
export class Life implements BookListener {
  /** Resolves when it is over and its tasks have ended; rejects when etcd refuses. */
  readonly end: Promise<void>;
  readonly #ports: SchedulePorts;
  readonly #options: LifeOptions;
  readonly #presence: Presence;
  readonly #book: Book;
  readonly #clocks = new Clocks();
  readonly #dispatcher: Dispatcher;
  readonly #over = new AbortController();
  readonly #since: number;
  #beat = 1;
  #greeting = false;
  #clock: WorkerRecord["clock"] = "ok";
  #isLeaving = false;

  /** Joins, and begins to work. @throws StoreError; the signal's reason */
  static async begin(ports: SchedulePorts, options: LifeOptions, signal: AbortSignal): Promise<Life> {
    const since = ports.clock.wall();
    const record = () =>
      recordOf(ports, options, { since, beat: 1, running: 0, clock: "ok", isLeaving: false });
    const presence = await Presence.join(ports, options.ttl, record, signal);
    return new Life(ports, options, { presence, since }, signal);
  }

  private constructor(
    ports: SchedulePorts,
    options: LifeOptions,
    { presence, since }: { presence: Presence; since: number },
    signal: AbortSignal,
  ) {
    this.#ports = ports;
    this.#options = options;
    this.#presence = presence;
    this.#since = since;
    this.#book = new Book(ports.keys, () => ports.clock.wall(), this);
    const context = { ports, presence, book: this.#book, host: options.host, pid: options.pid };
    this.#dispatcher = new Dispatcher(context, options);
    this.end = this.#live(signal);
  }

  get id(): string {
    return this.#presence.id;
  }

  get running(): number {
    return this.#dispatcher.running;
  }

  drain(): void {
    this.#isLeaving = true;
    this.#dispatcher.close();
    void this.#publish();
  }

  reloaded(): void {
    this.#dispatcher.rulesChanged();
    void this.#publish();
  }

  schedule(entry: Parameters<BookListener["schedule"]>[0]): void {
    this.#dispatcher.changed(entry);
  }

  worker(id: string, record: WorkerRecord | undefined, isNews: boolean): void {
    this.#dispatcher.workersChanged();
    if (id === this.id) return;
    if (record === undefined) this.#clocks.forget(id);
    else if (isNews) this.#heard(id, record);
    this.#judgeClock();
  }

  rules(): void {
    this.#dispatcher.rulesChanged();
  }

  #heard(id: string, record: WorkerRecord): void {
    this.#clocks.heard(id, record.wall, this.#ports.clock.wall());
    if (record.beat <= ASKING_BEATS) void this.#greet();
  }

  async #live(signal: AbortSignal): Promise<void> {
    const { session } = this.#presence;
    const over = AbortSignal.any([signal, session.signal, this.#over.signal]);
    const work = [
      this.#follow(over),
      this.#beats(over),
      this.#watchHorizon(over),
      this.#dispatcher.run(over),
    ];
    const failed = Promise.race(work.map((one) => one.then(() => new Promise<never>(() => {}))));
    let failure: unknown;
    try {
      await Promise.race([failed, this.#dispatcher.done, aborted(over)]);
    } catch (error) {
      if (!over.aborted) failure = error;
    }
    if (signal.aborted) this.#dispatcher.stop(() => new TaskLost("released", "the worker stops"));
    else if (failure !== undefined)
      this.#dispatcher.stop(() => new TaskLost("lost", `the worker cannot go on: ${failure}`));
    else this.#dispatcher.close();
    await this.#dispatcher.done;
    this.#over.abort(new Error("the worker's session is over"));
    await Promise.allSettled(work);
    await this.#presence.leave();
    this.#options.listener({ kind: "left", worker: this.id, ...leftFor(session.signal, failure) });
    if (failure !== undefined) throw failure;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const news of follow(this.#ports, this.#book, signal)) {
      if (news.kind === "away") this.#ports.log.warn("etcd is away", { error: String(news.error) });
      else if (news.kind === "read") this.#readAll(signal);
      this.#dispatcher.lookAgain();
    }
  }

  #readAll(signal: AbortSignal): void {
    const others = [...this.#book.workers.keys()].filter((id) => id !== this.id);
    this.#ports.log.info("schedules read", {
      schedules: this.#book.entries.size,
      workers: others.length + 1,
    });
    this.#dispatcher.readAnew();
    if (this.#dispatcher.isOpen) return;
    if (others.length > 0) void this.#publish();
    void this.#listen(others, signal).then(
      () => {
        this.#dispatcher.open();
        this.#options.listener({ kind: "joined", worker: this.id });
      },
      () => {},
    );
  }

  /** Whoever has a wrong clock must know before it fires anything. */
  async #listen(others: readonly string[], signal: AbortSignal): Promise<void> {
    const until = this.#ports.clock.now() + LISTEN_FOR;
    while (!others.every((id) => this.#clocks.hasHeard(id) || !this.#book.workers.has(id))) {
      if (this.#ports.clock.now() >= until) return;
      await this.#ports.clock.sleep(20, signal);
    }
  }

  async #greet(): Promise<void> {
    if (this.#greeting) return;
    this.#greeting = true;
    const pause = this.#ports.random.unit() * GREET_WITHIN;
    await this.#ports.clock.sleep(pause, this.#over.signal).catch(() => {});
    this.#greeting = false;
    await this.#publish();
  }

  async #beats(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#ports.clock.sleep(BEAT * (0.9 + this.#ports.random.unit() / 5), signal);
      await this.#publish();
    }
  }

  async #publish(): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#beat += 1;
    const state = { since: this.#since, beat: this.#beat, running: this.running };
    const record = recordOf(this.#ports, this.#options, {
      ...state,
      clock: this.#clock,
      isLeaving: this.#isLeaving,
    });
    await this.#presence.publish(record).catch((error) => {
      if (!isUnavailable(error) && !this.#presence.session.signal.aborted && !this.#over.signal.aborted)
        this.#ports.log.warn("the worker's record was not written", { error: String(error) });
    });
  }

  #judgeClock(): void {
    const state = this.#clocks.judge(this.#options.clockLimits ?? CLOCK_LIMITS);
    if (state === this.#clock) return;
    this.#clock = state;
    const skew = Math.round(this.#clocks.skew);
    this.#options.listener({ kind: "clock", state, skew });
    if (state === "refuses")
      this.#ports.log.error("this host's clock is wrong, nothing is fired; see: timedatectl", {
        ms_ahead: skew,
      });
    else if (state === "warns")
      this.#ports.log.warn("this host's clock differs from the other workers'", { ms_ahead: skew });
    else this.#ports.log.info("this host's clock agrees with the other workers' again");
    this.#dispatcher.refuse(state === "refuses");
    void this.#publish();
  }

  /** Handlers need their time to end before the session can have expired. */
  async #watchHorizon(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const endAt = () => this.#presence.session.horizon - this.#options.terminationTimeout;
    while (!signal.aborted) {
      if (endAt() <= clock.now()) {
        this.#dispatcher.endAll(() => new TaskLost("lost", "the session could not be renewed in time"));
        await clock.sleep(100, signal);
      } else await clock.sleep(endAt() - clock.now(), signal);
    }
  }
}

function leftFor(session: AbortSignal, failure: unknown): { reason?: string } {
  const reason = failure ?? (session.aborted ? session.reason : undefined);
  return reason === undefined ? {} : { reason: reason instanceof Error ? reason.message : String(reason) };
}

function recordOf(
  ports: SchedulePorts,
  { host, pid, version, tags, handlers, concurrency }: LifeOptions,
  {
    isLeaving,
    ...state
  }: Pick<WorkerRecord, "since" | "beat" | "running" | "clock"> & { isLeaving: boolean },
): WorkerRecord {
  const own = { host, pid, version, tags, types: handlers.types, concurrency, wall: ports.clock.wall() };
  return { ...own, ...state, ...(isLeaving && { isLeaving: true as const }) };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
