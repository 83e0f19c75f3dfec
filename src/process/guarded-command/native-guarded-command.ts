import { constants } from "node:os";
import type { Clock } from "../../base/clock.ts";
import { EXIT, SignalboxError } from "../../base/errors.ts";
import { CommandCgroup } from "./cgroup.ts";
import type { CommandExit, CommandSpec, Deadlines, GuardedCommand } from "./command.ts";
import {
  createExecError,
  createGuardianError,
  createStartError,
  createUnfitGuardianError,
  KILLED,
  parseCommandExit,
} from "./exits.ts";
import type { Guardian, GuardianExit } from "./guardian-process.ts";
import { GuardianWatchdog } from "./guardian-watchdog.ts";
import { killOrphans } from "./orphans.ts";
import {
  decodeProcessStartTimes,
  encodeEnvironmentBlock,
  encodeFrame,
  encodeWords,
  type Frame,
  GUARDIAN_EVENT,
  GUARDIAN_EXIT,
  GUARDIAN_REQUEST,
  type ProcessStartTimes,
  WIRE_VERSION,
} from "./wire.ts";

interface NativeCommandOptions {
  spec: CommandSpec;
  clock: Clock;
  /** Requests for the command's environment, as frames. */
  environment: readonly Buffer[];
  /** Called before the command is started. */
  onStart?(): void;
  /** The command already runs. */
  isRunning?: boolean;
  /** The value of SIGNALBOX_RUN in the environment of a command that already runs. */
  runId?: string | undefined;
  /**
   * Reads the guardian's boot-time clock, ms, if it is known to be that of this process. Requests then do not wait for the
   * guardian.
   */
  readBootTime?: () => number;
  /** Starts the guardian, or connects to one. Called once. @throws SignalboxError */
  createGuardian(onFrame: (frame: Frame) => void): Guardian;
}

/** A command and its guardian: sends requests as frames, and settles the promises from the guardian's events. */
export class NativeGuardedCommand implements GuardedCommand {
  readonly #spec: CommandSpec;
  readonly #clock: Clock;
  readonly #words: Buffer[];
  readonly #environment: readonly Buffer[];
  readonly #guardian: Guardian;
  readonly #watchdog: GuardianWatchdog;
  readonly #onStart: (() => void) | undefined;
  readonly #ready = Promise.withResolvers<void>();
  readonly #started = Promise.withResolvers<number>();
  readonly #exited = Promise.withResolvers<CommandExit>();
  readonly #gone = Promise.withResolvers<void>();
  /** The guardian's boot time, ns, and the local clock, read afterwards. */
  #clocks: { boot: bigint; now: number } | undefined;
  #isReady = false;
  /** The guardian has reported that the command was started. */
  #hasStarted = false;
  /** Requests that wait for the guardian's clock, without those for deadlines. */
  #unsent: (() => Buffer)[] = [];
  #deadlines: Deadlines | undefined;
  /** Why the guardian cannot guard here. */
  #unfitness: SignalboxError | undefined;
  /** A process of the command may exist. */
  #launched: boolean;
  #runId: string | undefined;
  #terminateBy = Number.POSITIVE_INFINITY;
  #startTimes: ProcessStartTimes = new Map();
  #cgroup = new CommandCgroup("");

  /** @throws SignalboxError when an argument is invalid or the guardian refuses the command's environment */
  constructor(options: NativeCommandOptions) {
    const { spec, clock, environment, createGuardian, isRunning = false, runId, readBootTime } = options;
    this.#spec = spec;
    this.#clock = clock;
    this.#words = encodeCommandWords(spec);
    this.#environment = environment;
    this.#onStart = options.onStart;
    this.#launched = isRunning;
    this.#runId = runId;
    if (readBootTime !== undefined) this.#compareClocks(BigInt(Math.floor(readBootTime() * 1e6)));
    this.#started.promise.catch(() => {}); // no listener before start()
    this.#ready.promise.catch(() => {});
    this.#guardian = createGuardian((frame) => this.#handleFrame(frame));
    this.#watchdog = new GuardianWatchdog({
      clock,
      ping: () => this.#pingGuardians(),
      killGuardians: () => this.#guardian.kill(),
    });
    this.#guardian.ended.then((end) => this.#handleGuardianExit(end));
  }

  /**
   * Resolves when the guardian is ready. Rejects with a SignalboxError when it could not be started or cannot guard
   * here.
   */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get exited(): Promise<CommandExit> {
    return this.#exited.promise;
  }

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  arm(deadlines: Deadlines): void {
    const isRoutine = this.#deadlines !== undefined && deadlines.killAt >= this.#deadlines.killAt;
    this.#deadlines = deadlines;
    if (this.#clocks !== undefined) this.#sendDeadlines(deadlines);
    this.#updateWatchdog(isRoutine);
  }

  async start(env: Record<string, string>): Promise<number> {
    const order = encodeFrame(GUARDIAN_REQUEST.start, 0n, 0n, encodeEnvironmentBlock(env));
    this.#runId = env.SIGNALBOX_RUN;
    this.#launched = true;
    this.#onStart?.();
    this.#send(() => Buffer.concat([...this.#environment, ...this.#words, order]));
    this.#updateWatchdog();
    return this.#started.promise;
  }

  signal(name: NodeJS.Signals): void {
    this.#send(() => encodeFrame(GUARDIAN_REQUEST.signal, BigInt(constants.signals[name])));
  }

  terminate(killAt: number): void {
    this.#send(() => encodeFrame(GUARDIAN_REQUEST.terminate, this.#toBootTime(killAt)));
    this.#terminateBy = Math.min(this.#terminateBy, killAt);
    this.#updateWatchdog();
  }

  async release(): Promise<void> {
    if (this.#launched) await Promise.race([this.exited, this.gone, this.#guardian.ended]);
    this.#guardian.wake();
    this.#send(() => encodeFrame(GUARDIAN_REQUEST.release));
    await this.#guardian.ended;
  }

  /** Sends a request, as soon as the guardian's clock is known: only then can instants be converted. */
  #send(request: () => Buffer): void {
    if (this.#clocks === undefined) this.#unsent.push(request);
    else this.#guardian.send(request());
  }

  #sendDeadlines({ termAt, killAt }: Deadlines): void {
    this.#guardian.send(
      encodeFrame(GUARDIAN_REQUEST.arm, this.#toBootTime(termAt), this.#toBootTime(killAt)),
    );
  }

  /**
   * Converts an instant of the local clock to nanoseconds of boot time. The guardian read its time before the local
   * clock was read, so the result is early by that interval, never late.
   */
  #toBootTime(instant: number): bigint {
    const { boot, now } = this.#clocks ?? { boot: 0n, now: 0 };
    const ms = instant - now;
    if (!Number.isFinite(ms)) return ms > 0 ? 1n << 64n : 0n;
    return boot + BigInt(Math.floor(ms * 1e6));
  }

  /**
   * Wakes stopped guardians now. If they still do not answer when all processes must have ended, the watchdog kills
   * them.
   */
  #updateWatchdog(isRoutine = false): void {
    if (!this.#launched) return;
    this.#guardian.wake(isRoutine);
    const killAt = this.#deadlines?.killAt ?? Number.POSITIVE_INFINITY;
    this.#watchdog.setDeadline(Math.min(killAt, this.#terminateBy));
  }

  #pingGuardians(): void {
    this.#guardian.wake();
    this.#guardian.send(encodeFrame(GUARDIAN_REQUEST.ping));
  }

  #handleFrame(frame: Frame): void {
    const { file } = this.#spec;
    if (frame.kind === GUARDIAN_EVENT.place) this.#handlePlace(frame);
    if (frame.kind === GUARDIAN_EVENT.seen) this.#startTimes = decodeProcessStartTimes(frame.block);
    if (frame.kind === GUARDIAN_EVENT.pong) this.#watchdog.recordPong();
    if (frame.kind === GUARDIAN_EVENT.hello) this.#handleHello(frame);
    if (frame.kind === GUARDIAN_EVENT.started) this.#handleStarted(Number(frame.a));
    if (frame.kind === GUARDIAN_EVENT.failed) this.#started.reject(createExecError(file, Number(frame.a)));
    if (frame.kind === GUARDIAN_EVENT.refused) this.#handleRefusal(frame.a);
    if (frame.kind === GUARDIAN_EVENT.exited) this.#exited.resolve(parseCommandExit(frame));
    if (frame.kind === GUARDIAN_EVENT.gone) this.#handleGone();
  }

  #handleStarted(pid: number): void {
    this.#hasStarted = true;
    this.#started.resolve(pid);
  }

  #handlePlace({ a: inner, block }: Frame): void {
    this.#guardian.setInnerPid(Number(inner));
    this.#cgroup = new CommandCgroup(block.toString(), this.#guardian.owner);
  }

  /** Handles GONE. The guardian waits for the RELEASE, which confirms that all of its events were read. */
  #handleGone(): void {
    this.#watchdog.stop();
    this.#gone.resolve();
    this.#guardian.send(encodeFrame(GUARDIAN_REQUEST.release));
  }

  #handleHello({ a: boot, b: version }: Frame): void {
    if (version === WIRE_VERSION) {
      if (this.#clocks === undefined) this.#sendUnsent(boot);
      this.#isReady = true;
      this.#ready.resolve();
      return;
    }
    const message = `the guardian speaks version ${version}, not ${WIRE_VERSION}; rebuild it with \`npm run build\``;
    this.#unfitness = new SignalboxError(EXIT.config, message);
    this.#ready.reject(this.#unfitness);
    this.#guardian.close();
  }

  /** @param boot  the guardian's clock, ns */
  #sendUnsent(boot: bigint): void {
    this.#compareClocks(boot);
    if (this.#deadlines !== undefined) this.#sendDeadlines(this.#deadlines);
    for (const request of this.#unsent.splice(0)) this.#guardian.send(request());
  }

  #compareClocks(boot: bigint): void {
    this.#clocks = { boot, now: this.#clock.now() };
  }

  #handleRefusal(reason: bigint): void {
    this.#launched = false;
    this.#started.reject(createStartError(this.#spec.file, reason));
  }

  /** Settles all open promises: the outer guardian and the socket have ended. */
  async #handleGuardianExit({ code, failure }: GuardianExit): Promise<void> {
    this.#watchdog.stop();
    // An error costs more than all else here, and after a normal end nobody would receive it.
    const lost =
      this.#hasStarted && code === GUARDIAN_EXIT.gone ? undefined : this.#explainLoss(code, failure);
    this.#ready.reject(lost);
    const mustKillLeftovers = code === undefined && !failure && this.#launched;
    if (mustKillLeftovers)
      await this.#killLeftovers(); // before callers are notified and free the claim
    else if (code === undefined) this.#cgroup.remove();
    this.#started.reject(lost);
    if (code === GUARDIAN_EXIT.released) return;
    if (this.#launched) this.#exited.resolve(KILLED);
    this.#gone.resolve();
  }

  /** Explains the end of a guardian that was not ready, or had not reported a running command. */
  #explainLoss(code: number | undefined, failure: SignalboxError | undefined): SignalboxError {
    const lost = failure ?? this.#unfitness ?? createGuardianError(this.#spec.file, code, this.#launched);
    const isFit = this.#isReady || lost.exitCode !== EXIT.internal;
    return isFit ? lost : createUnfitGuardianError(code);
  }

  /**
   * Kills the remaining processes. Killed guardians send nothing, so it is unknown whether the inner one finished its
   * work.
   */
  async #killLeftovers(): Promise<void> {
    const mark = {
      session: this.#guardian.pid,
      runId: this.#runId,
      startTimes: this.#startTimes,
      cgroup: this.#cgroup,
      owner: this.#guardian.owner,
    };
    await killOrphans(mark, (ms) => this.#clock.sleep(ms));
  }
}

function encodeCommandWords({ file, args }: CommandSpec): Buffer[] {
  try {
    return encodeWords([file, ...args]);
  } catch (cause) {
    const message = `cannot start "${file}" with these arguments: ${(cause as Error).message}`;
    throw new SignalboxError(EXIT.notExecutable, message, { cause });
  }
}
