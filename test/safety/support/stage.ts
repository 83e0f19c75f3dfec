/** Real `signalbox run` processes on a real etcd, whose commands keep a journal. */
import { resolve } from "node:path";
import type { TestContext } from "vitest";
import type { EtcdMember } from "../../../fixtures/etcd/index.ts";
import { type RunningProcess, type SignalboxOptions, startSignalbox } from "../../../fixtures/signalbox.ts";
import type { Store } from "../../../src/etcd/store.ts";
import { createKeys, type Keys } from "../../../src/protocol/keys.ts";
import { type QueueEntry, toQueue } from "../../../src/protocol/ticket.ts";
import { Journal } from "./journal.ts";
import { Meddler } from "./meddler.ts";
import { until } from "./until.ts";

export type Transport = "http" | "grpc";
export const TRANSPORTS: readonly Transport[] = ["http", "grpc"];

/** On a machine that stalls etcd may be late: that is no part of what a test is about. */
const PATIENT = { SIGNALBOX_CONNECT_TIMEOUT: "60s" };

export const HOLD = resolve(import.meta.dirname, "hold.sh");

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
  /** Further variables of `signalbox run`. */
  env?: Record<string, string>;
}

/** How a test says what is to be done at its end. */
export type Finishing = Pick<TestContext, "onTestFinished">;

export class Stage {
  readonly etcd: EtcdMember;
  /** Straight to etcd, past whatever meddles with the runs. */
  readonly store: Store;
  readonly keys: Keys;
  readonly transport: Transport;
  readonly journal = new Journal();
  readonly #running = new Map<string, RunningProcess>();
  /** What each run has printed, for whoever looks into a failure. */
  readonly #printed = new Map<string, RunningProcess["output"]>();
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
    this.keys = createKeys(prefix);
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
  run({
    name,
    options,
    hold = [1],
    units = 1,
    endpoint = this.etcd.clientUrl,
    env: more,
  }: Job): RunningProcess {
    const env = {
      ...more,
      SIGNALBOX_TRANSPORT: this.transport,
      SIGNALBOX_PREFIX: this.keys.prefix,
      ...PATIENT,
      JOURNAL: this.journal.path,
      NAME: name,
      UNITS: String(units),
    };
    const args = ["run", ...options, "--label", name, "--", "sh", HOLD, ...hold.map(String)];
    const running = startSignalbox(args, { endpoints: [endpoint], env });
    this.#running.set(name, running);
    this.#printed.set(name, running.output);
    void running.ended.then(() => this.#running.delete(name));
    return running;
  }

  /** Starts any other command of `signalbox` on this stage; it ends with the test. */
  command(
    args: readonly string[],
    { endpoint = this.etcd.clientUrl, ...options }: SignalboxOptions & { endpoint?: string } = {},
  ): RunningProcess {
    const env = {
      ...{ SIGNALBOX_TRANSPORT: this.transport, SIGNALBOX_PREFIX: this.keys.prefix, ...PATIENT },
      ...options.env,
    };
    const running = startSignalbox(args, { endpoints: [endpoint], ...options, env });
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
  async tickets(): Promise<readonly QueueEntry[]> {
    const [locks, resources] = await Promise.all([
      this.store.readRange(this.keys.locks()),
      this.store.readRange(this.keys.resources()),
    ]);
    return toQueue([...locks.kvs, ...resources.kvs]);
  }

  /** The tickets of a job, as soon as there are so many in this state. */
  async placed(name: string, state: string, count = 1): Promise<readonly QueueEntry[]> {
    const find = async () => {
      const own = (await this.tickets()).filter(({ ticket }) => ticket?.label === name);
      return own.length === count && own.every(({ ticket }) => ticket?.state === state) ? own : undefined;
    };
    const tell = () => `printed: ${JSON.stringify([...this.#printed])}\n${this.journal.timeline()}`;
    return await until(`${name} is ${state}`, find, { tell });
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
