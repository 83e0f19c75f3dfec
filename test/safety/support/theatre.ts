/** A real etcd, and real `signalbox run` processes on it whose commands keep a journal. */
import { resolve } from "node:path";
import { afterAll, beforeAll, onTestFinished, type TestContext } from "vitest";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { type Options, type RunningProcess, signalbox } from "../../../fixtures/signalbox.ts";
import { openStore } from "../../../src/etcd/open.ts";
import type { Store } from "../../../src/etcd/store.ts";
import { realClock } from "../../../src/process/clock.ts";
import { type Keys, keysUnder } from "../../../src/protocol/keys.ts";
import { type Place, queueOf } from "../../../src/protocol/ticket.ts";
import { Journal } from "./journal.ts";
import { Meddler } from "./meddler.ts";
import { until } from "./until.ts";

export type Transport = "http" | "grpc";
export const TRANSPORTS: readonly Transport[] = ["http", "grpc"];

const HOLD = resolve(import.meta.dirname, "hold.sh");

export interface Job {
  /** Its name in the journal. */
  name: string;
  /** Options of `signalbox run`. */
  options: readonly string[];
  /** Arguments of hold.sh, which says what they mean. */
  hold?: readonly (string | number)[];
  /** What it uses of that which is shared, for the journal. */
  units?: number;
  /** Where it finds etcd, if not directly. */
  endpoint?: string;
}

/** How a test says what is to be done at its end. */
type Finishing = Pick<TestContext, "onTestFinished">;

/** One etcd for a file of tests. */
export class Theatre {
  #etcd: EtcdMember | undefined;
  #store: Store | undefined;
  #stages = 0;

  constructor() {
    beforeAll(async () => {
      this.#etcd = await startEtcd();
      const timeouts = { total: 30_000 }; // what the test itself asks must not fail on a slow machine
      this.#store = await openStore({ endpoints: this.#etcd.endpoints, timeouts }, { clock: realClock() });
    });
    afterAll(async () => {
      this.#store?.close();
      await this.#etcd?.stop();
    });
  }

  /**
   * A prefix and a journal of its own for a test; its processes end with the test.
   * @param context  of a test that runs beside others, which must not count `sessions()`, nor look for `ghosts()`
   */
  async stage(
    transport: Transport,
    { onTestFinished: onFinished }: Finishing = { onTestFinished },
  ): Promise<Stage> {
    if (!this.#etcd || !this.#store) throw new Error("a stage is for a running test");
    this.#stages += 1;
    const stage = new Stage(this.#etcd, this.#store, transport, `/stage${this.#stages}/`, onFinished);
    await stage.open();
    return stage;
  }
}

export class Stage {
  readonly etcd: EtcdMember;
  /** Straight to etcd, past whatever meddles with the runs. */
  readonly store: Store;
  readonly keys: Keys;
  readonly transport: Transport;
  readonly journal = new Journal();
  readonly #running = new Map<string, RunningProcess>();
  #commands = 0;
  /** Of tests before. */
  #sessionsBefore: readonly bigint[] = [];

  /** Says what else is to be done at the end of the test. */
  readonly onFinished: Finishing["onTestFinished"];

  constructor(
    etcd: EtcdMember,
    store: Store,
    transport: Transport,
    prefix: string,
    onFinished: Finishing["onTestFinished"],
  ) {
    this.onFinished = onFinished;
    this.etcd = etcd;
    this.store = store;
    this.transport = transport;
    this.keys = keysUnder(prefix);
    onFinished(async () => {
      for (const { child } of this.#running.values()) child.kill("SIGKILL");
      await Promise.all([...this.#running.values()].map(({ ended }) => ended));
      this.journal.remove();
    });
  }

  async open(): Promise<void> {
    this.#sessionsBefore = await this.sessions();
  }

  /** Starts `signalbox run OPTIONS -- hold.sh …`. */
  run({ name, options, hold = [1], units = 1, endpoint = this.etcd.clientUrl }: Job): RunningProcess {
    const env = {
      SIGNALBOX_TRANSPORT: this.transport,
      SIGNALBOX_PREFIX: this.keys.prefix,
      JOURNAL: this.journal.path,
      NAME: name,
      UNITS: String(units),
    };
    const args = ["run", ...options, "--label", name, "--", "sh", HOLD, ...hold.map(String)];
    const running = signalbox(args, { endpoints: [endpoint], env });
    this.#running.set(name, running);
    void running.ended.then(() => this.#running.delete(name));
    return running;
  }

  /** Starts any other command of `signalbox` on this stage; it ends with the test. */
  command(
    args: readonly string[],
    { endpoint = this.etcd.clientUrl, ...options }: Options & { endpoint?: string } = {},
  ): RunningProcess {
    const env = { SIGNALBOX_TRANSPORT: this.transport, SIGNALBOX_PREFIX: this.keys.prefix, ...options.env };
    const running = signalbox(args, { endpoints: [endpoint], ...options, env });
    const name = `command ${this.#commands++}`;
    this.#running.set(name, running);
    void running.ended.then(() => this.#running.delete(name));
    return running;
  }

  /** Starts a run and waits until its command has started. */
  async started(job: Job): Promise<RunningProcess> {
    const running = this.run(job);
    const early = running.ended.then((ended) => {
      throw new Error(`${job.name} ended before its command started: ${JSON.stringify(ended)}`);
    });
    early.catch(() => {}); // it ends some time
    await Promise.race([this.journal.seen(job.name, "start"), early]);
    return running;
  }

  /** Waits until no run that was started here is left. */
  async allEnded(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  async meddler(): Promise<Meddler> {
    const meddler = await Meddler.start(this.etcd.clientUrl);
    this.onFinished(() => meddler.close());
    return meddler;
  }

  /** Every ticket there is, in the order of claims. */
  async tickets(): Promise<readonly Place[]> {
    const [locks, resources] = await Promise.all([
      this.store.range(this.keys.locks()),
      this.store.range(this.keys.resources()),
    ]);
    return queueOf([...locks.kvs, ...resources.kvs]);
  }

  /** The tickets of a job, as soon as there are so many in this state. */
  async placed(name: string, state: string, count = 1): Promise<readonly Place[]> {
    const find = async () => {
      const own = (await this.tickets()).filter(({ ticket }) => ticket?.label === name);
      return own.length === count && own.every(({ ticket }) => ticket?.state === state) ? own : undefined;
    };
    return await until(`${name} is ${state}`, find, { tell: () => this.journal.timeline() });
  }

  /** What is left of runs in etcd: tickets, and sessions with or without. */
  async ghosts(): Promise<string[]> {
    const [tickets, sessions] = await Promise.all([this.tickets(), this.sessions()]);
    return [...tickets.map(({ key }) => key), ...sessions.map((id) => `session ${id.toString(16)}`)];
  }

  /** Sessions that have been granted since the stage was opened, and live. */
  async sessions(): Promise<bigint[]> {
    const response = await fetch(`${this.etcd.clientUrl}/v3/lease/leases`, { method: "POST", body: "{}" });
    const { leases = [] } = (await response.json()) as { leases?: { ID: string }[] };
    return leases.map(({ ID }) => BigInt(ID)).filter((id) => !this.#sessionsBefore.includes(id));
  }

  /** One of etcd's own counters. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.etcd.clientUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
  }
}
