import { VERSION } from "../../base/version.ts";
import type { Env } from "../../config/files.ts";
import { scrubEnv } from "../../config/scrub.ts";
import type { MacroFacts } from "../../fleet/macros.ts";
import type { CommandHost } from "../../process/command.ts";
import { Engine } from "../schedule/engine.ts";
import type { WorkerEvent } from "../schedule/events.ts";
import type { Handlers } from "../schedule/handler.ts";
import type { SchedulePorts } from "../schedule/ports.ts";
import { handlersOf } from "./handlers.ts";
import { type Hooks, hooksOf } from "./hooks.ts";
import { LeasedHandler } from "./leased.ts";
import { lessorOf } from "./lessor.ts";
import { metricsOf, type WorkerMetrics } from "./metrics.ts";
import { type Notifier, notifierOf, SYSTEMD_VARIABLES } from "./notify.ts";
import type { HandlerPorts } from "./ports.ts";
import { report } from "./reporter.ts";
import { NO_FILE, readWorkerFile, type WorkerFile } from "./worker-file.ts";

/** What a worker needs of the world. */
export interface WorkerPorts extends SchedulePorts {
  commands: CommandHost;
  /** Of this process. */
  env: Env;
}

/** What its command line and settings say. Durations in ms; the session's time to live in whole seconds. */
export interface WorkerOptions {
  file: string | undefined;
  environment: string | undefined;
  /** Keys of the file that whoever starts the worker has read already: no word about them. */
  keysRead?: readonly string[];
  /** What counts where the file does not say. */
  usual?: Pick<WorkerFile, "concurrency" | "retryWait">;
  concurrency: number | undefined;
  tags: readonly string[];
  commands: boolean;
  metrics: string | undefined;
  facts: MacroFacts;
  user: string;
  ttl: number;
  terminationTimeout: number;
  secrets: readonly string[];
}

const CONCURRENCY = 4;
/** Between two looks whether the worker has joined, ms. */
const LOOK = 50;

/** A worker as its command starts it: handlers, metrics, hooks and systemd around the engine. */
export class Worker {
  readonly #ports: WorkerPorts;
  readonly #options: WorkerOptions;
  readonly #engine: Engine;
  readonly #notifier: Notifier;
  readonly #hooks: Hooks;
  readonly #handlerPorts: HandlerPorts;
  #metrics: WorkerMetrics | undefined;
  #heldLeases = 0;
  #isLeaving = false;

  /** Reads its file; nothing is taken before `run`. @throws ConfigError, UsageError */
  static async create(ports: WorkerPorts, options: WorkerOptions): Promise<Worker> {
    const file = fileOf(ports, options);
    const worker = new Worker(ports, options, file);
    const listen = options.metrics ?? file.metrics;
    if (listen !== undefined) await worker.#serve(listen);
    return worker;
  }

  private constructor(ports: WorkerPorts, options: WorkerOptions, file: WorkerFile) {
    const { log } = ports;
    this.#ports = ports;
    this.#options = options;
    this.#handlerPorts = handlerPorts(ports, options);
    const onResult = (result: Parameters<WorkerMetrics["hook"]>[0]) => this.#metrics?.hook(result);
    this.#hooks = hooksOf(this.#handlerPorts, { hooks: file.hooks, onResult });
    const { ttl, terminationTimeout, facts } = options;
    this.#engine = new Engine(ports, {
      ...{ ttl, terminationTimeout, host: facts.fqdn, pid: process.pid, version: VERSION },
      tags: [...file.tags, ...options.tags],
      concurrency: options.concurrency ?? file.concurrency ?? CONCURRENCY,
      handlers: this.#handlers(file),
      listener: (event) => this.#hear(event),
    });
    this.#notifier = notifierOf(ports.env, { log, isAlive: () => this.#engine.id !== undefined });
  }

  /**
   * Works until it has left.
   * @param signal  ends what runs, too
   * @throws StoreError when etcd refuses, or cannot be reached at the start
   */
  async run(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    void this.#joined(over.signal).catch(() => {});
    try {
      await this.#engine.run(signal);
    } finally {
      over.abort(new Error("the worker has left"));
      this.#notifier.stopping();
      await this.#hooks.close();
      await this.#metrics?.close();
      await this.#notifier.close();
    }
  }

  /** Takes nothing more, and leaves when what runs has ended. @param why  a word for the log */
  leave(why: string): void {
    this.#isLeaving = true;
    this.#ports.log.info("leaving when what runs has ended", { why, running: this.#engine.running });
    this.#notifier.stopping();
    this.#engine.drain();
  }

  /** Reads its file again, for what starts from now on. One that is wrong is logged, and the old one stays. */
  reload(): void {
    const { log } = this.#ports;
    if (this.#isLeaving) return;
    this.#notifier.reloading();
    try {
      const file = fileOf(this.#ports, this.#options);
      this.#engine.reload(this.#handlers(file), this.#options.concurrency ?? file.concurrency ?? CONCURRENCY);
      this.#hooks.replace(file.hooks ?? {});
      log.info("read again", { file: this.#options.file, handlers: file.handlers.length });
    } catch (error) {
      log.error("the old handlers stay", { error: (error as Error).message });
    }
    this.#notifier.ready();
  }

  #handlers(file: WorkerFile): Handlers {
    const lessor = lessorOf(this.#ports, this.#options);
    const count = (units: number) => {
      this.#heldLeases += units;
    };
    return handlersOf(this.#handlerPorts, file, (handler, { leases = [] }) =>
      leases.length === 0 ? handler : new LeasedHandler(lessor, handler, count),
    );
  }

  async #serve(listen: string): Promise<void> {
    const illness = () => (this.#engine.id === undefined ? "the worker has no session in etcd" : undefined);
    const heldLeases = () => this.#heldLeases;
    this.#metrics = await metricsOf({ listen, log: this.#ports.log, illness, heldLeases });
    const { host = "", port } = this.#metrics.address;
    this.#ports.log.info("metrics are served", { at: `${host}:${port}` });
  }

  async #joined(signal: AbortSignal): Promise<void> {
    while (this.#engine.id === undefined) await this.#ports.clock.sleep(LOOK, signal);
    this.#ports.log.info("the worker is there", { worker: this.#engine.id, host: this.#options.facts.fqdn });
    this.#notifier.ready();
  }

  #hear(event: WorkerEvent): void {
    report(this.#ports.log, event);
    this.#hooks.listener(event);
    this.#metrics?.listener(event);
    if (event.kind === "load") this.#notifier.status(`${event.running} of ${event.concurrency} tasks run`);
  }
}

function fileOf({ log }: WorkerPorts, options: WorkerOptions): WorkerFile {
  const { file, environment, keysRead, usual, commands } = options;
  const read = file === undefined ? NO_FILE : readWorkerFile(file, { environment, keysRead });
  for (const warning of read.warnings) log.warn(warning);
  return { ...usual, ...read, commands: read.commands && commands };
}

function handlerPorts(
  { clock, random, log, commands, env }: WorkerPorts,
  options: WorkerOptions,
): HandlerPorts {
  const { secrets, terminationTimeout, facts } = options;
  const own = Object.entries(scrubEnv(env)).filter(([name]) => !SYSTEMD.has(name));
  return {
    clock,
    random,
    log,
    commands,
    secrets,
    terminationTimeout,
    host: facts.fqdn,
    env: Object.fromEntries(own),
  };
}

const SYSTEMD: ReadonlySet<string> = new Set(SYSTEMD_VARIABLES);
