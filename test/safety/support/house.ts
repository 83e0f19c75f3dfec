/** A real etcd and real `signalbox` processes on it. Whatever is left of them at the end is killed, by process id. */
import { randomUUID } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import {
  type ProcessResult,
  type RunningProcess,
  type SignalboxOptions,
  startSignalbox,
} from "../../../fixtures/signalbox.ts";
import { PATIENCE, startStopwatch } from "../../../fixtures/steady.ts";
import { openStore, type StoreOptions } from "../../../src/etcd/open/open.ts";
import type { KeyValue, Op, Store } from "../../../src/etcd/store.ts";
import { createRealClock } from "../../../src/process/clock.ts";
import { createKeys, type Keys } from "../../../src/protocol/keys.ts";
import { type Queue, toQueue } from "../../../src/protocol/ticket.ts";
import { kill, marked } from "../../process/helpers.ts";

export const TRANSPORTS = ["http", "grpc"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** A process whose descendants are known by a mark in their environment. */
export interface Run extends RunningProcess {
  readonly mark: string;
}

export interface RoomOptions {
  transport?: Transport;
  /** Where its runs find etcd; the test itself always takes the straight way. */
  endpoints?: readonly string[];
  /** Variables for its runs, such as SIGNALBOX_TTL. */
  env?: Record<string, string>;
  prefix?: string;
}

/** Where a house stands. */
interface Ground {
  endpoints: readonly string[];
  store: Store;
  /** Undefined where somebody else looks after it. */
  etcd?: EtcdMember;
}

/** Everything that one test file starts on one etcd. */
export class House {
  #ground: Ground | undefined;
  readonly #runs: Run[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), "signalbox-safety-"));
  #files = 0;

  private constructor(ground?: Ground) {
    this.#ground = ground;
  }

  /** On an etcd of its own, from the first test of the file (or of the `describe`) to the last. */
  static onEtcd(): House {
    const house = new House();
    let etcd: EtcdMember | undefined;
    beforeAll(async () => {
      etcd = await startEtcd();
      house.#ground = { ...(await groundAt(etcd.endpoints)), etcd };
    });
    afterAll(async () => {
      await house.close();
      await etcd?.stop();
    });
    return house;
  }

  /** @param options  how the test itself, not its runs, gets into etcd */
  static async open(endpoints: readonly string[], options?: Partial<StoreOptions>): Promise<House> {
    return new House(await groundAt(endpoints, options));
  }

  get endpoints(): readonly string[] {
    return this.#built.endpoints;
  }

  get store(): Store {
    return this.#built.store;
  }

  get etcd(): EtcdMember {
    const { etcd } = this.#built;
    if (etcd === undefined) throw new Error("this house stands on somebody else's etcd");
    return etcd;
  }

  get #built(): Ground {
    if (this.#ground === undefined) throw new Error("the house is open from the first test on");
    return this.#ground;
  }

  /** Room for one test: keys under a prefix of its own, so that tests beside each other do not meet. */
  room(options: RoomOptions = {}): Room {
    return new Room(this, options);
  }

  start(args: readonly string[], options: SignalboxOptions): Run {
    const mark = randomUUID();
    const run = { ...startSignalbox(args, { ...options, env: { ...options.env, TEST_MARK: mark } }), mark };
    this.#runs.push(run);
    return run;
  }

  /** A path of its own; the file there goes when the house closes. With a text, the file exists. */
  file(text?: string, mode = 0o600): string {
    this.#files += 1;
    const path = join(this.#folder, `file${this.#files}`);
    if (text !== undefined) {
      writeFileSync(path, text);
      chmodSync(path, mode); // whatever the umask says
    }
    return path;
  }

  async close(): Promise<void> {
    const ended = Promise.all(this.#runs.map((run) => run.ended)).then(() => true);
    do {
      // A process that is just being made may not be seen the first time.
      for (const run of this.#runs) for (const { pid } of marked(run.mark)) kill(pid, "SIGKILL");
    } while (!(await Promise.race([ended, pause(500).then(() => false)])));
    this.#ground?.store.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function groundAt(endpoints: readonly string[], options: Partial<StoreOptions> = {}): Promise<Ground> {
  const timeouts = { total: 30_000 }; // what the test itself asks must not fail on a slow machine
  const store = await openStore(
    { endpoints: [...endpoints], timeouts, ...options },
    { clock: createRealClock() },
  );
  return { endpoints, store };
}

export class Room {
  readonly keys: Keys;
  readonly prefix: string;
  readonly env: Record<string, string>;
  readonly #house: House;
  readonly #endpoints: readonly string[];

  constructor(house: House, { transport = "http", endpoints, env, prefix }: RoomOptions) {
    this.prefix = prefix ?? `/${randomUUID()}/`;
    this.keys = createKeys(this.prefix);
    this.#house = house;
    this.#endpoints = endpoints ?? house.endpoints;
    this.env = {
      ...{ SIGNALBOX_PREFIX: this.prefix, SIGNALBOX_TRANSPORT: transport },
      // Long enough that a machine which stalls for seconds ends no command of a test that is about something else.
      ...{ SIGNALBOX_TTL: "60s", SIGNALBOX_TERMINATION_TIMEOUT: "1s", SIGNALBOX_CONNECT_TIMEOUT: "60s" },
      XDG_CONFIG_HOME: "/nowhere", // what the user of this machine has configured is not tested
      ...env,
    };
  }

  get store(): Store {
    return this.#house.store;
  }

  /** `signalbox ARGS`. */
  cli(args: readonly string[], options: SignalboxOptions = {}): Run {
    const env = { ...this.env, ...options.env };
    return this.#house.start(args, { endpoints: this.#endpoints, ...options, env });
  }

  /** `signalbox run OPTIONS -- COMMAND`. */
  run(options: readonly string[], command: readonly string[], more: SignalboxOptions = {}): Run {
    return this.cli(["run", ...options, "--", ...command], more);
  }

  /** `signalbox ARGS`, to its end. */
  ended(args: readonly string[], options: SignalboxOptions = {}): Promise<ProcessResult> {
    return this.cli(args, options).ended;
  }

  async put(key: string, value: string): Promise<void> {
    await this.#write({ op: "put", key, value });
  }

  async delete(key: string): Promise<void> {
    await this.#write({ op: "delete", key });
  }

  /** The queue of a lock or resource as it stands now. */
  async queue(name: string, kind: "lock" | "resource" = "lock"): Promise<Queue> {
    return toQueue((await this.store.readRange(this.keys.getQueueRange(kind, name))).kvs);
  }

  /** Every key of this room, but what hosts say of themselves: any run may have left that. */
  async everything(): Promise<KeyValue[]> {
    const { kvs } = await this.store.readRange(this.keys.getFullRange());
    return kvs.filter(({ key }) => this.keys.parse(key).kind !== "host");
  }

  /** Resolves when a run's ticket is in a queue in this state. */
  /** Waits until a run's ticket is in a state. Rejects when that cannot come any more: the run has ended, or waits no longer. */
  async standing(run: Run, state: string, name: string, kind: "lock" | "resource" = "lock"): Promise<void> {
    await eventually(`run ${run.pid} ${state} in ${kind} ${name}`, async () => {
      const hasEnded = run.child.exitCode !== null || run.child.signalCode !== null;
      const own = (await this.queue(name, kind)).find(({ ticket }) => ticket?.pid === run.pid)?.ticket?.state;
      if (own !== state && (hasEnded || (state === "waiting" && own === "held")))
        throw new Error(`run ${run.pid} is ${hasEnded ? "over" : own} and will not be ${state}`);
      return own === state;
    }).catch((cause) => {
      throw new Error(`${cause.message}; it printed ${JSON.stringify(run.output)}`, { cause });
    });
  }

  async #write(op: Op): Promise<void> {
    await this.store.commitTxn({ compare: [], success: [op], failure: [] });
  }
}

/** Looks until something is there. @throws Error naming it when it is not within `ms` */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  ms = PATIENCE,
): Promise<T> {
  const waited = startStopwatch();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (waited() > ms) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}

/** A run that ended in silence, with this code. */
export const silently = (code: number): ProcessResult => ({ code, signal: null, stdout: "", stderr: "" });

/** A run that ended with this code and printed this to standard error, and nothing to standard output. */
export const saying = (code: number, stderr: RegExp) => ({
  ...{ code, signal: null, stdout: "" },
  stderr: expect.stringMatching(stderr),
});
