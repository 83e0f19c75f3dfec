import { follow } from "../observe/follow.ts";
import { Book, type BookListener } from "./book.ts";
import { Dispatcher, type DispatchOptions } from "./dispatch.ts";
import { TaskLost } from "./handler.ts";
import { firstRecord, Herald, type HeraldOptions } from "./herald.ts";
import type { SchedulePorts } from "./ports.ts";
import { Presence } from "./presence.ts";

export interface LifeOptions extends DispatchOptions, HeraldOptions {
  /** Of the worker's session, whole seconds. */
  ttl: number;
}

/** A worker as long as one session of it lives. */
export class Life implements BookListener {
  /** Resolves when it is over and its tasks have ended; rejects when etcd refuses. */
  readonly end: Promise<void>;
  readonly #ports: SchedulePorts;
  readonly #options: LifeOptions;
  readonly #presence: Presence;
  readonly #book: Book;
  readonly #herald: Herald;
  readonly #dispatcher: Dispatcher;

  /** Joins, and begins to work. @throws StoreError; the signal's reason */
  static async begin(ports: SchedulePorts, options: LifeOptions, signal: AbortSignal): Promise<Life> {
    const record = () => firstRecord(ports, options, ports.clock.wall());
    return new Life(ports, options, await Presence.join(ports, options.ttl, record, signal), signal);
  }

  private constructor(ports: SchedulePorts, options: LifeOptions, presence: Presence, signal: AbortSignal) {
    this.#ports = ports;
    this.#options = options;
    this.#presence = presence;
    this.#book = new Book(ports.keys, () => ports.clock.wall(), this);
    const context = { ports, presence, book: this.#book, host: options.host, pid: options.pid };
    this.#herald = new Herald(ports, options, presence, () => this.running);
    this.#dispatcher = new Dispatcher(context, options, () => this.#herald.clock() !== "refuses");
    this.end = this.#live(signal);
  }

  get id(): string {
    return this.#presence.id;
  }

  get running(): number {
    return this.#dispatcher.running;
  }

  /** Takes nothing more; it ends with what runs. */
  drain(): void {
    this.#dispatcher.close();
    void this.#herald.leave();
  }

  /** Handlers are others now. */
  reloaded(): void {
    this.#dispatcher.rulesChanged();
    void this.#herald.publish();
  }

  schedule(entry: Parameters<BookListener["schedule"]>[0]): void {
    this.#dispatcher.changed(entry);
  }

  worker(id: string, record: Parameters<BookListener["worker"]>[1], isNews: boolean): void {
    this.#dispatcher.workersChanged();
    if (id === this.id) return;
    this.#herald.heard(id, record, isNews);
    this.#dispatcher.lookAgain();
  }

  rules(): void {
    this.#dispatcher.rulesChanged();
  }

  async #live(signal: AbortSignal): Promise<void> {
    const { session } = this.#presence;
    const ended = new AbortController();
    const over = AbortSignal.any([signal, session.signal, ended.signal]);
    const work = [
      ...[this.#follow(over), this.#herald.beats(over)],
      ...[this.#watchHorizon(over), this.#dispatcher.run(over)],
    ];
    const failure = await this.#untilOver(work, over);
    if (signal.aborted) this.#dispatcher.stop(() => new TaskLost("released", "the worker stops"));
    else if (failure !== undefined)
      this.#dispatcher.stop(() => new TaskLost("lost", `the worker cannot go on: ${failure.message}`));
    else this.#dispatcher.close();
    await this.#dispatcher.done;
    this.#herald.close();
    ended.abort(new Error("the worker's session is over"));
    await Promise.allSettled(work);
    await this.#presence.leave();
    const reason = failure ?? (session.signal.aborted ? (session.signal.reason as Error) : undefined);
    this.#options.listener({ kind: "left", worker: this.id, ...(reason && { reason: reason.message }) });
    if (failure !== undefined) throw failure;
  }

  /** @returns what made it impossible to go on; undefined where it is over for another reason */
  async #untilOver(work: readonly Promise<void>[], over: AbortSignal): Promise<Error | undefined> {
    const failed = Promise.race(work.map((one) => one.then(() => new Promise<never>(() => {}))));
    try {
      await Promise.race([failed, this.#dispatcher.done, aborted(over)]);
    } catch (error) {
      if (!over.aborted) return error instanceof Error ? error : new Error(String(error));
    }
    return undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const news of follow(this.#ports, this.#book, signal)) {
      if (news.kind === "away") this.#ports.log.warn("etcd is away", { error: String(news.error) });
      else if (news.kind === "read") this.#readAll(signal);
      this.#dispatcher.lookAgain();
    }
  }

  #readAll(signal: AbortSignal): void {
    const { entries, workers } = this.#book;
    this.#ports.log.info("schedules read", { schedules: entries.size, workers: workers.size });
    const isFirst = this.#dispatcher.readAnew();
    if (isFirst) this.#open(signal).catch(() => {}); // over before it began
  }

  async #open(signal: AbortSignal): Promise<void> {
    const others = () => [...this.#book.workers.keys()].filter((id) => id !== this.id);
    await this.#herald.listen(others, signal);
    this.#dispatcher.open();
    this.#options.listener({ kind: "joined", worker: this.id });
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

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
