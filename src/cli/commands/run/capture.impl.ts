import { NO_LONGER_NEEDED, waitAtMost } from "../../../core/base/clock.ts";
import type { OutputCopies } from "../../../core/process/guarded-command/command.ts";
import { ENDING_SIGNALS } from "../../../core/run/command-supervisor.ts";
import type { RunPorts, RunRequest } from "../../../core/run/request.ts";
import { OutputKeeper, type OutputStorage, OutputTail } from "../../../site/output/output-keeper.ts";
import { OutputServer } from "../../../site/output/output-server.ts";
import type { Call, CommandIo } from "../../frame/command.ts";
import type { CommandConnection } from "../../frame/connect.ts";
import type { RunFlags } from "./run.ts";
import { buildOutputStorage } from "./run-archive.ts";

/** The usual size, bytes. */
const DEFAULT_CAPTURE_BYTES = 1024 * 1024;
/** How long the end of the run waits for its last output, ms. */
const LAST_OUTPUT = 250;
/** Runs that end sooner than this do not look for viewers, ms. */
const SERVE_AFTER = 1_000;
/** How long to wait at the end for a slow disk, and for viewers to get the rest, ms. */
const LAST_WRITES = 2_000;
const LAST_VIEWERS = 3_000;

/**
 * Creates what keeps the output of a run. Without `--capture`, that is only its end, for hooks.
 * @returns undefined if there is no directory for it; the run does without
 * @throws UsageError
 */
export function createCapture(
  call: Call<RunFlags>,
  io: CommandIo,
  connection: CommandConnection,
): RunCapture | undefined {
  const { settings, log } = connection;
  const { capture } = call.flags;
  if (capture === undefined) return new RunCapture(connection, io, undefined);
  const size = typeof capture === "number" ? capture : settings.outputSize || DEFAULT_CAPTURE_BYTES;
  const storage = buildOutputStorage(call, { ...settings, outputSize: size }, io.env);
  if (storage !== undefined) return new RunCapture(connection, io, storage);
  log.warn("output is not kept: set outputDirectory, because HOME is not set");
  return undefined;
}

/** Keeps the output of one run, and shows it to viewers. Nothing here can make the run fail or wait for long. */
export class RunCapture implements OutputCopies {
  readonly #connection: CommandConnection;
  readonly #io: CommandIo;
  readonly #storage: OutputStorage | undefined;
  readonly #tail = new OutputTail();
  /** The copies of each attempt. */
  readonly #finishers: (() => void)[] = [];
  readonly #over = new AbortController();
  #passed = Promise.withResolvers<void>();
  /** Number of attempts whose output has not passed. */
  #unpassed = 0;
  #run = "";
  #isRunning = true;
  #keeper: OutputKeeper | undefined;
  #server: OutputServer | undefined;

  constructor(connection: CommandConnection, io: CommandIo, storage: OutputStorage | undefined) {
    this.#connection = connection;
    this.#io = io;
    this.#storage = storage;
  }

  /** Adds the capture to a run that is about to begin. */
  connect(ports: RunPorts, request: RunRequest): void {
    const { onAttempt, onGrant } = ports;
    request.command.copies = this;
    const storage = this.#storage;
    if (storage === undefined) return;
    ports.onAttempt = (attempt) => {
      this.#run = attempt.run;
      return onAttempt?.(attempt);
    };
    ports.onGrant = () => {
      void this.#serve(storage.directory);
      onGrant?.();
    };
    ports.collectTail = () => this.collectTail();
  }

  onOpen(finish: () => void): void {
    if (this.#unpassed === 0) this.#passed = Promise.withResolvers();
    this.#unpassed += 1;
    this.#finishers.push(finish);
  }

  onCopy(chunk: Buffer, descriptor: 1 | 2, lost: number): void {
    if (this.#storage === undefined) return this.#tail.take(chunk);
    this.#keeper ??= this.#createKeeper(this.#storage);
    if (lost > 0) this.#keeper.addLost(lost);
    this.#keeper.take(chunk, descriptor);
  }

  onEnd(): void {
    this.#unpassed -= 1;
    if (this.#unpassed === 0) this.#passed.resolve();
  }

  #finish(): void {
    for (const finish of this.#finishers.splice(0)) finish();
  }

  /**
   * Waits until all output has passed to the caller, as long as that takes, and until it is kept and seen, for a
   * limited time. A signal ends the wait; the output passes nevertheless.
   */
  async close(): Promise<void> {
    const { clock } = this.#connection;
    const stopped = Promise.withResolvers<void>();
    const stop = this.#io.onSignal((name) => {
      if (ENDING_SIGNALS.includes(name)) stopped.resolve();
    });
    this.#finish();
    if (this.#unpassed > 0) await Promise.race([this.#passed.promise, stopped.promise]);
    const kept = this.#keeper?.close().catch(() => {}) ?? Promise.resolve();
    await waitAtMost(clock, LAST_WRITES, Promise.race([kept, stopped.promise]));
    this.#isRunning = false;
    await waitAtMost(clock, LAST_VIEWERS, Promise.race([this.#waitForViewers(), stopped.promise]));
    this.#over.abort(NO_LONGER_NEEDED);
    stop();
  }

  async #waitForViewers(): Promise<void> {
    while (this.#server?.isNeeded) await this.#connection.clock.sleep(50, this.#over.signal);
  }

  /** Returns the end of the output so far. @param within  how long to wait for what has not passed */
  async collectTail(within = LAST_OUTPUT): Promise<string | undefined> {
    this.#finish();
    if (this.#unpassed > 0) await waitAtMost(this.#connection.clock, within, this.#passed.promise);
    return this.#storage === undefined ? this.#tail.render() : this.#keeper?.renderTail();
  }

  async #serve(directory: string): Promise<void> {
    const { clock, facts } = this.#connection;
    const { signal } = this.#over;
    await clock.sleep(SERVE_AFTER, signal).catch(() => {});
    if (signal.aborted) return;
    const run = this.#run;
    this.#server = new OutputServer(this.#connection, {
      host: facts.fqdn,
      run,
      directory,
      isRunning: (one) => one === run && this.#isRunning,
    });
    await this.#server.run(signal);
  }

  #createKeeper(storage: OutputStorage): OutputKeeper {
    const { clock, log } = this.#connection;
    const onFault = (error: Error) => log.warn("output is not kept", { error: error.message });
    return new OutputKeeper(clock, { ...storage, run: this.#run, onFault });
  }
}
