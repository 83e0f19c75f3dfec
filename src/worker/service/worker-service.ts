import { formatDuration, formatInstant, type Millis } from "../../core/base/clock.ts";
import { ConfigError } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import { VERSION } from "../../core/base/version.ts";
import type { Env } from "../../core/config/files.ts";
import { thisMachine } from "../../core/config/machine.ts";
import { scrubEnv } from "../../core/config/scrub.ts";
import { createConditionLookup } from "../../core/fleet/conditions.ts";
import { createMacros, type MacroFacts } from "../../core/fleet/macros.ts";
import type { CommandHost } from "../../core/process/guarded-command/command.ts";
import { createNotifier, type Notifier, SYSTEMD_VARIABLES } from "../../core/process/notifier.ts";
import { createSpanSender, type SpanSender } from "../../core/process/span-sender.ts";
import { keepHostRecord } from "../../core/run/keep-host-record.ts";
import { canBypassRoles, ROLE_BYPASS, ROLE_BYPASS_REMEDY } from "../../site/check/permissions.ts";
import type { ArchiveOptions } from "../../site/output/archive.ts";
import type { OutputStorage } from "../../site/output/output-keeper.ts";
import { OutputServer } from "../../site/output/output-server.ts";
import { createBootReader, ScheduleWorker, type ScheduleWorkerOptions } from "../engine/schedule-worker.ts";
import type { WorkerEvent } from "../events.ts";
import { NO_FILE, readWorkerFile, type WorkerFile } from "../file/worker-file.ts";
import type { HandlerRegistry } from "../handler.ts";
import { createFileHandlers } from "../handlers/handlers.ts";
import { createLeaseAcquirer, createLeasedHandler } from "../handlers/leased-handler.ts";
import { LATE_AFTER } from "../hooks/hook-payload.ts";
import { Hooks } from "../hooks/hooks.ts";
import { startMetrics, type WorkerMetrics } from "../metrics/metrics.ts";
import { OutcomeArchive } from "../outcome-archive.ts";
import type { HandlerPorts, SchedulePorts } from "../worker-ports.ts";
import { TaskTraces } from "./task-traces.ts";

/** What a worker needs from its environment. */
interface WorkerServicePorts extends SchedulePorts {
  commands: CommandHost;
  /** Environment of this process. */
  env: Env;
}

/** Options from the command line and the settings. Durations in ms; the session's time to live in whole seconds. */
export interface WorkerServiceOptions {
  file: string | undefined;
  environment: string | undefined;
  /** Keys of the file that the caller has already read: they cause no warning. */
  keysRead?: readonly string[];
  /** Defaults for values that the file does not set. */
  usual?: Pick<WorkerFile, "concurrency" | "retryWait">;
  concurrency: number | undefined;
  tags: readonly string[];
  commands: boolean;
  /** Run commands of schedules although etcd does not protect them with roles. */
  acceptsRoleBypass: boolean;
  metrics: string | undefined;
  facts: MacroFacts;
  user: string;
  ttl: number;
  terminationTimeout: Millis;
  secrets: readonly string[];
  /** Where the output of tasks is kept; undefined to keep none. */
  output?: OutputStorage | undefined;
  /** Where outcomes are archived; undefined for nowhere. */
  archive?: ArchiveOptions | undefined;
  /** Reads how far the clocks of etcd's members differ from this host's clock. */
  readMemberClocks?: ScheduleWorkerOptions["readMemberClocks"];
}

const DEFAULT_CONCURRENCY = 4;
/** Interval of the check whether the worker has joined, ms. */
const JOIN_CHECK_INTERVAL_MS = 50;

/** A worker as started by its command: a ScheduleWorker with handlers, metrics, hooks and systemd. */
export class WorkerService {
  readonly #ports: WorkerServicePorts;
  readonly #options: WorkerServiceOptions;
  readonly #engine: ScheduleWorker;
  readonly #notifier: Notifier;
  readonly #hooks: Hooks;
  readonly #handlerPorts: HandlerPorts;
  readonly #spans: SpanSender | undefined;
  readonly #traces: TaskTraces | undefined;
  readonly #archive: OutcomeArchive | undefined;
  #metrics: WorkerMetrics | undefined;
  #heldLeases = 0;
  #runsCommands: boolean;
  #canBypassRoles = false;
  #isLeaving = false;

  /** Reads the worker's file; tasks start only with `run`. @throws ConfigError, UsageError */
  static async create(ports: WorkerServicePorts, options: WorkerServiceOptions): Promise<WorkerService> {
    const file = readConfiguredFile(ports, options);
    const worker = new WorkerService(ports, options, file);
    const listen = options.metrics ?? file.metrics;
    if (listen !== undefined) await worker.#startMetrics(listen);
    return worker;
  }

  private constructor(ports: WorkerServicePorts, options: WorkerServiceOptions, file: WorkerFile) {
    const { log } = ports;
    this.#ports = ports;
    this.#options = options;
    this.#handlerPorts = buildHandlerPorts(ports, options);
    this.#spans = createSpanSender(ports.env, ports, options.facts.fqdn);
    this.#archive = options.archive && new OutcomeArchive(ports, options.archive);
    this.#traces = this.#spans && new TaskTraces(ports.clock, this.#spans);
    const onResult = (result: Parameters<WorkerMetrics["countHook"]>[0]) => this.#metrics?.countHook(result);
    const handlers = this.#createHandlers(file);
    const { hooks, commands } = file;
    this.#hooks = new Hooks(this.#handlerPorts, { hooks, permission: handlers.hooks, onResult });
    const { ttl, terminationTimeout, facts } = options;
    this.#runsCommands = commands;
    this.#engine = new ScheduleWorker(ports, {
      checkEtcd: (signal) => this.#checkRoles(signal),
      ttl,
      terminationTimeout,
      host: facts.fqdn,
      pid: process.pid,
      readBoot: createBootReader(),
      version: VERSION,
      tags: [...file.tags, ...options.tags],
      concurrency: options.concurrency ?? file.concurrency ?? DEFAULT_CONCURRENCY,
      measure: createConditionLookup(createMacros(facts).lookup, thisMachine.readFile),
      handlers,
      listener: (event) => this.#handleEvent(event),
      ...(options.readMemberClocks && { readMemberClocks: options.readMemberClocks }),
    });
    this.#notifier = createNotifier(ports.env, { log, isAlive: () => this.#engine.id !== undefined });
  }

  /**
   * Runs the worker until it has left.
   * @param signal  also ends running tasks
   * @throws StoreError when etcd rejects a call, or is unavailable at the start
   */
  async run(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    void this.#waitUntilJoined(over.signal).catch(() => {});
    void this.#serveOutput(over.signal);
    void this.#spans?.load();
    try {
      await this.#engine.run(signal);
    } finally {
      over.abort(new Error("the worker has left"));
      this.#notifier.sendStopping();
      await this.#hooks.close();
      await this.#metrics?.close();
      await this.#spans?.close();
      await this.#archive?.close();
      await this.#notifier.close();
    }
  }

  /** Accepts no more tasks, and leaves when all running tasks have ended. @param why  reason for the log */
  leave(why: string): void {
    this.#isLeaving = true;
    this.#ports.log.info("leaving when the running tasks have ended", { why, running: this.#engine.running });
    this.#notifier.sendStopping();
    this.#engine.drain();
  }

  /**
   * Reads the worker's file again, for tasks that start from now on. On an error, logs it and keeps the old
   * configuration.
   */
  reload(): void {
    const { log } = this.#ports;
    if (this.#isLeaving) return;
    this.#notifier.sendReloading();
    try {
      const file = readConfiguredFile(this.#ports, this.#options);
      this.#refuseUnprotectedCommands(file.commands);
      this.#runsCommands = file.commands;
      const handlers = this.#createHandlers(file);
      this.#engine.reload(handlers, this.#options.concurrency ?? file.concurrency ?? DEFAULT_CONCURRENCY);
      this.#hooks.replace(file.hooks ?? {}, handlers.hooks);
      log.info("handlers read again", { file: this.#options.file, handlers: file.handlers.length });
    } catch (error) {
      log.error("the old handlers stay in use", { error: (error as Error).message });
    }
    this.#notifier.sendReady();
  }

  /** @throws ConfigError, StoreError */
  async #checkRoles(signal: AbortSignal): Promise<void> {
    this.#canBypassRoles = await canBypassRoles({ ...this.#ports, signal });
    this.#refuseUnprotectedCommands(this.#runsCommands);
  }

  /** @throws ConfigError */
  #refuseUnprotectedCommands(runsCommands: boolean): void {
    if (!runsCommands || !this.#canBypassRoles || this.#options.acceptsRoleBypass) return;
    throw new ConfigError(
      `${ROLE_BYPASS}; ${ROLE_BYPASS_REMEDY}, or run no commands of schedules (commands: false in the file, or --no-commands); if every user of this etcd may run commands here: --accept-role-bypass`,
    );
  }

  async #serveOutput(signal: AbortSignal): Promise<void> {
    const { output } = this.#handlerPorts;
    if (output === undefined) return;
    const { storage, running } = output;
    const isRunning = (run: string) => running.has(run);
    const { fqdn: host } = this.#options.facts;
    const { directory } = storage;
    await new OutputServer(this.#ports, { host, directory, isRunning }).run(signal);
  }

  #createHandlers(file: WorkerFile): HandlerRegistry {
    const lessor = createLeaseAcquirer(this.#ports, this.#options);
    const count = (units: number) => {
      this.#heldLeases += units;
    };
    return createFileHandlers(this.#handlerPorts, file, (handler, { leases = [] }) => {
      const traced = this.#traces?.wrap(handler) ?? handler;
      return leases.length === 0 ? traced : createLeasedHandler(lessor, traced, count);
    });
  }

  async #startMetrics(listen: string): Promise<void> {
    const findFault = () => (this.#engine.id === undefined ? "the worker has no session in etcd" : undefined);
    const countHeldLeases = () => this.#heldLeases;
    this.#metrics = await startMetrics({ listen, log: this.#ports.log, findFault, countHeldLeases });
    const { host = "", port } = this.#metrics.address;
    this.#ports.log.info("metrics are served", { at: `${host}:${port}` });
  }

  async #waitUntilJoined(signal: AbortSignal): Promise<void> {
    while (this.#engine.id === undefined) await this.#ports.clock.sleep(JOIN_CHECK_INTERVAL_MS, signal);
    this.#ports.log.info("worker joined", { worker: this.#engine.id, host: this.#options.facts.fqdn });
    void keepHostRecord(this.#ports, this.#options.facts, signal);
    this.#notifier.sendReady();
  }

  #handleEvent(event: WorkerEvent): void {
    logWorkerEvent(this.#ports.log, event);
    this.#hooks.handleEvent(event);
    this.#metrics?.countEvent(event);
    this.#traces?.handleEvent(event);
    this.#archive?.handleEvent(event);
    if (event.kind === "load")
      this.#notifier.sendStatus(`${event.running} of ${event.concurrency} tasks run`);
  }
}

function readConfiguredFile(
  { log, env: { CREDENTIALS_DIRECTORY: credentials } }: WorkerServicePorts,
  options: WorkerServiceOptions,
): WorkerFile {
  const { file, environment, keysRead, usual, commands } = options;
  const read = file === undefined ? NO_FILE : readWorkerFile(file, { environment, keysRead, credentials });
  for (const warning of read.warnings) log.warn(warning);
  return { ...usual, ...read, commands: read.commands && commands };
}

function buildHandlerPorts(
  ports: WorkerServicePorts,
  { secrets, terminationTimeout, facts, output, user }: WorkerServiceOptions,
): HandlerPorts {
  const own = Object.entries(scrubEnv(ports.env)).filter(([name]) => !SYSTEMD_VARIABLES.has(name));
  const env = Object.fromEntries(own);
  const kept = output && { storage: output, running: new Set<string>() };
  return { ...ports, secrets, terminationTimeout, host: facts.fqdn, user, env, output: kept };
}

/**
 * Logs worker events that the worker itself does not log: late starts, overruns, skipped occurrences, retries and final failures.
 */
function logWorkerEvent(log: Log, event: WorkerEvent): void {
  if (event.kind === "started" && event.late >= LATE_AFTER)
    log.warn("started late", { schedule: event.id, late: formatDuration(event.late) });
  if (event.kind === "overrun")
    log.warn("takes longer than expected", { schedule: event.id, expected: formatDuration(event.bound) });
  if (event.kind === "skipped") {
    const { count = 1, reason, scheduled } = event.outcome;
    log.warn("skipped", { schedule: event.id, scheduled: formatInstant(scheduled), count, reason });
  }
  if (event.kind !== "ended") return;
  if (event.outcome.deviation === "too-short")
    log.warn("succeeded sooner than expected", { schedule: event.id, expected: event.definition.expect });
  const { id: schedule, outcome, again, isDead } = event;
  if (isDead) log.error("given up", { schedule, attempt: outcome.attempt, reason: outcome.reason });
  else if (again !== undefined) log.info("starts again", { schedule, at: formatInstant(again) });
}
