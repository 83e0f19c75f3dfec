/** A real etcd with schedules on it, and workers in this process whose wall clock the test sets. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import type { Store } from "../../src/etcd/store.ts";
import { createRealClock } from "../../src/process/clock.ts";
import { realRandom } from "../../src/process/random.ts";
import { createKeys, type Keys } from "../../src/protocol/keys.ts";
import type { Op, Txn } from "../../src/protocol/txn.ts";
import { type Definition, formatDefinition } from "../../src/schedule/definition.ts";
import { type DueState, formatDue, parseDue } from "../../src/schedule/state/due.ts";
import { computeFirstDue, type FirstOccurrenceOptions } from "../../src/schedule/state/due-transitions.ts";
import { type OutcomeHistory, parseOutcomes } from "../../src/schedule/state/outcome.ts";
import { parseRunning, type RunningRecord } from "../../src/schedule/state/running-record.ts";
import { ScheduleWorker, type ScheduleWorkerOptions } from "../../src/worker/engine/schedule-worker.ts";
import type { WorkerEvent } from "../../src/worker/events.ts";
import type { HandlerRegistry, ScheduledTask, TaskResult } from "../../src/worker/handler.ts";
import type { SchedulePorts } from "../../src/worker/worker-ports.ts";

/** A wall clock that the test sets, and that goes on from there; whoever sleeps wakes then. Monotonic time is the machine's. */
export class SettableClock implements Clock {
  readonly #real = createRealClock();
  #wall: number;
  #since = this.now();
  #set = Promise.withResolvers<void>();

  constructor(wall: number) {
    this.#wall = wall;
  }

  now(): number {
    return this.#real.now();
  }

  getWallTime(): number {
    return this.#wall + Math.floor(this.now() - this.#since);
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

/** Keys of one test. */
export class WorkerFixture {
  readonly store: Store;
  readonly keys: Keys;
  readonly clock: SettableClock;
  readonly #workers: TestWorker[] = [];

  constructor(store: Store, clock = new SettableClock(START), keys = createKeys(`/${randomUUID()}/`)) {
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

  /** Puts keys in one transaction. */
  async put(...pairs: string[]): Promise<void> {
    const puts = Array.from({ length: pairs.length / 2 }, (_, n) => {
      return { op: "put", key: pairs[2 * n] ?? "", value: pairs[2 * n + 1] ?? "" } as const;
    });
    await this.store.commitTxn({ compare: [], success: puts, failure: [] });
  }

  async delete(...keys: string[]): Promise<void> {
    await this.store.commitTxn({
      compare: [],
      success: keys.map((key) => ({ op: "delete", key })),
      failure: [],
    });
  }

  async readDue(id: string): Promise<DueState> {
    const { kvs } = await this.store.readRange({ key: this.keys.due(id) });
    const parsed = parseDue(kvs[0]?.value ?? "");
    if ("fault" in parsed) throw new Error(parsed.fault);
    return parsed.value;
  }

  async readOutcomes(id: string): Promise<OutcomeHistory> {
    return parseOutcomes((await this.store.readRange({ key: this.keys.outcomes(id) })).kvs[0]?.value);
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

  /** Stops the workers, whatever they do. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }
}

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

  /** Waits until so many starts have ended. @returns their outcomes */
  async waitForOutcomes(count: number): Promise<Extract<WorkerEvent, { kind: "ended" }>["outcome"][]> {
    return await this.waitForEvents((events) => {
      const ended = events.flatMap((event) => (event.kind === "ended" ? [event.outcome] : []));
      return ended.length >= count && ended;
    });
  }

  /** Waits until it takes what is due. @returns its id */
  async waitUntilJoined(times = 1): Promise<string> {
    return await this.waitForEvents((events) => {
      const joins = events.flatMap((event) => (event.kind === "joined" ? [event.worker] : []));
      return joins[times - 1];
    });
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
export const listOps = ({ success }: Txn): Op[] =>
  success.flatMap((op) => (op.op === "txn" ? listOps(op.txn) : [op]));

/** A store of which some calls go another way; all else goes straight. */
export function divertCalls(real: Store, calls: Partial<Store>): Store {
  return new Proxy(real, {
    get: (target, name) => {
      if (Object.hasOwn(calls, name)) return Reflect.get(calls, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export const returnOk = async (): Promise<TaskResult> => ({ result: "ok" });
