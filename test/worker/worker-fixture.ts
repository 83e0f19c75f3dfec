/** A real etcd with schedules on it, and workers in this process whose wall clock the test sets. */
import { randomUUID } from "node:crypto";
import { type Clock, type MonotonicTime, subtractTime } from "../../src/core/base/clock.ts";
import { silentLog } from "../../src/core/base/log.ts";
import type { Store } from "../../src/core/etcd/store.ts";
import { createRealClock } from "../../src/core/process/clock.ts";
import { realRandom } from "../../src/core/process/random.ts";
import { createKeys, type Keys } from "../../src/core/protocol/keys.ts";
import type { Op, Txn } from "../../src/core/protocol/txn.ts";
import { type Definition, formatDefinition } from "../../src/schedule/definition.ts";
import { formatDue } from "../../src/schedule/state/due.ts";
import { computeFirstDue, type FirstOccurrenceOptions } from "../../src/schedule/state/due-transitions.ts";
import {
  formatWorker,
  parseRunning,
  type RunningRecord,
  type WorkerRecord,
} from "../../src/schedule/state/running-record.ts";
import { ScheduleWorker, type ScheduleWorkerOptions } from "../../src/worker/engine/schedule-worker.ts";
import type { WorkerEvent } from "../../src/worker/events.ts";
import type { HandlerRegistry, ScheduledTask, TaskResult } from "../../src/worker/handler.ts";
import { Poller, type PollerOptions } from "../../src/worker/polling/poller.ts";
import type { SchedulePorts } from "../../src/worker/worker-ports.ts";
import { StoredKeys } from "../site/operate/stored-keys.ts";

/** A wall clock that the test sets, and that goes on from there; whoever sleeps wakes then. Monotonic time is the machine's. */
export class SettableClock implements Clock {
  readonly #real = createRealClock();
  #wall: number;
  #since = this.now();
  #set = Promise.withResolvers<void>();

  constructor(wall: number) {
    this.#wall = wall;
  }

  now(): MonotonicTime {
    return this.#real.now();
  }

  getWallTime(): number {
    return this.#wall + Math.floor(subtractTime(this.now(), this.#since));
  }

  set(wall: number): void {
    this.#wall = wall;
    this.#since = this.now();
    this.#set.resolve();
    this.#set = Promise.withResolvers();
  }

  advance(ms: number): void {
    this.set(this.getWallTime() + ms);
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const over = new AbortController();
    const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
    const timer = this.#real.sleep(ms, either);
    timer.catch(() => {});
    try {
      await Promise.race([timer, this.#set.promise]);
    } finally {
      over.abort();
    }
    signal?.throwIfAborted();
  }
}

/** 10:00 on a Monday. */
export const START = Date.parse("2026-03-02T10:00:00Z");
export const MINUTE = 60_000;

/** A worker that could run anything, and runs nothing. */
export const IDLE_WORKER: WorkerRecord = {
  host: "h2.example.com",
  pid: 1,
  version: "0",
  since: 0,
  wall: 0,
  beat: 1,
  types: ["/.*/"],
  tags: [],
  running: 0,
  concurrency: 1,
  clock: "ok",
};

/** Keys of one test. */
export class WorkerFixture extends StoredKeys {
  readonly store: Store;
  readonly keys: Keys;
  readonly clock: SettableClock;
  readonly #workers: TestWorker[] = [];
  readonly #pollers: Poller[] = [];

  constructor(store: Store, clock = new SettableClock(START), keys = createKeys(`/${randomUUID()}/`)) {
    super();
    this.store = store;
    this.clock = clock;
    this.keys = keys;
  }

  createPorts(clock: Clock = this.clock): SchedulePorts {
    const { store, keys } = this;
    return { store, keys, clock, random: realRandom, log: silentLog, settings: { connectTimeout: 5_000 } };
  }

  /** Adds a schedule: every minute in UTC from `START` on, unless said otherwise. */
  async add(
    id: string,
    change: Partial<Definition> = {},
    first: FirstOccurrenceOptions = { start: START },
  ): Promise<Definition> {
    const definition: Definition = { cron: "* * * * *", timezone: "UTC", ...change };
    const due = formatDue(computeFirstDue(id, definition, this.clock.getWallTime(), first));
    await this.put(this.keys.schedule(id), formatDefinition(definition), this.keys.due(id), due);
    return definition;
  }

  async listRunning(): Promise<(RunningRecord & { key: string })[]> {
    const { kvs } = await this.store.readRange(this.keys.runnings());
    return kvs.flatMap(({ key, value }) => {
      const parsed = parseRunning(value);
      return "value" in parsed ? [{ ...parsed.value, key }] : [];
    });
  }

  /** A worker with one handler for everything. */
  startWorker(
    run: (task: ScheduledTask) => Promise<TaskResult>,
    options: Partial<ScheduleWorkerOptions> & { clock?: Clock } = {},
  ): TestWorker {
    const hand = new TestWorker(this, run, options);
    this.#workers.push(hand);
    return hand;
  }

  /** A program that polls. */
  async openPoller(options: Partial<PollerOptions> = {}): Promise<Poller> {
    const whole = { host: "h1", pid: 1, version: "0", ttl: 30, measure: () => undefined, ...options };
    const poller = await Poller.open(this.createPorts(), whole, new AbortController().signal);
    this.#pollers.push(poller);
    return poller;
  }

  /** Registers a worker that exists only as a key. */
  async putWorker(id: string, change: Partial<WorkerRecord> = {}): Promise<void> {
    const record = { ...IDLE_WORKER, wall: this.clock.getWallTime(), ...change };
    await this.put(this.keys.worker(id), formatWorker(record));
  }

  /** Revokes the session of a key, as if its owner had not renewed it. */
  async revokeSession(key: string): Promise<void> {
    const { kvs } = await this.store.readRange({ key });
    await this.store.revoke(kvs[0]?.session ?? 0n);
  }

  /** Stops the workers and pollers, whatever they do. */
  async close(): Promise<void> {
    await Promise.all([
      ...this.#workers.map((worker) => worker.stop()),
      ...this.#pollers.map((one) => one.close()),
    ]);
  }
}

type EventOf<K extends WorkerEvent["kind"]> = Extract<WorkerEvent, { kind: K }>;

/** A worker in this process, with what it has told. */
export class TestWorker {
  readonly engine: ScheduleWorker;
  readonly events: WorkerEvent[] = [];
  readonly ended: Promise<void>;
  readonly #stop = new AbortController();
  #told = Promise.withResolvers<void>();

  constructor(
    fixture: WorkerFixture,
    run: (task: ScheduledTask) => Promise<TaskResult>,
    { clock, ...options }: Partial<ScheduleWorkerOptions> & { clock?: Clock },
  ) {
    const handlers: HandlerRegistry = { types: ["/.*/", "$command"], find: () => ({ run }) };
    this.engine = new ScheduleWorker(fixture.createPorts(clock), {
      host: "h1.example.com",
      pid: process.pid,
      version: "0",
      tags: [],
      ttl: 30,
      handlers,
      concurrency: 10,
      measure: () => undefined,
      terminationTimeout: 1_000,
      listener: (event) => this.#hear(event),
      clockOffset: () => 0, // a test that sets the clock lets time pass for all
      ...options,
    });
    this.ended = this.engine.run(this.#stop.signal);
    this.ended.catch(() => {});
  }

  /** Waits until the events so far are what is wanted, and gives what that made of them. */
  async waitForEvents<T>(look: (events: readonly WorkerEvent[]) => T | undefined | false): Promise<T> {
    for (;;) {
      const seen = look(this.events);
      if (seen !== undefined && seen !== false) return seen;
      await this.#told.promise;
    }
  }

  list<K extends WorkerEvent["kind"]>(kind: K): EventOf<K>[] {
    return this.events.filter((event): event is EventOf<K> => event.kind === kind);
  }

  /** Waits until it has told so many events of a kind. @returns those that are so, the first ones first */
  async waitFor<K extends WorkerEvent["kind"]>(
    kind: K,
    count = 1,
    is: (event: EventOf<K>) => boolean = () => true,
  ): Promise<[EventOf<K>, ...EventOf<K>[]]> {
    return await this.waitForEvents(() => {
      const [first, ...more] = this.list(kind).filter(is);
      return first !== undefined && more.length + 1 >= count && [first, ...more];
    });
  }

  /** Waits until so many starts have ended. @returns their outcomes */
  async waitForOutcomes(count: number): Promise<EventOf<"ended">["outcome"][]> {
    return (await this.waitFor("ended", count)).map(({ outcome }) => outcome);
  }

  /** Waits until so many starts have ended well. */
  async waitForSuccesses(count: number): Promise<void> {
    await this.waitFor("ended", count, ({ outcome }) => outcome.result === "ok");
  }

  /** Waits until it takes what is due. @returns its id */
  async waitUntilJoined(times = 1): Promise<string> {
    return (await this.waitFor("joined", times)).at(-1)?.worker ?? "";
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("the test ends"));
    await this.ended.catch(() => {});
  }

  #hear(event: WorkerEvent): void {
    this.events.push(event);
    this.#told.resolve();
    this.#told = Promise.withResolvers();
  }
}

/** Lists what a transaction does if its guards hold, also as a part of a combined one. */
const listOps = ({ success }: Txn): Op[] =>
  success.flatMap((op) => (op.op === "txn" ? listOps(op.txn) : [op]));

/** Whether a transaction puts a key of which this is a part. */
export const isPutting = (txn: Txn, part: string) =>
  listOps(txn).some((op) => op.op === "put" && op.key.includes(part));

/** Whether a transaction deletes a key of which this is a part. */
export const isDeleting = (txn: Txn, part: string) =>
  listOps(txn).some((op) => op.op === "delete" && op.key.includes(part));

export const returnOk = async (): Promise<TaskResult> => ({ result: "ok" });
