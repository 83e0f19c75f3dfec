import { existsSync } from "node:fs";
import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";
import {
  addMs,
  type BootTime,
  type Clock,
  type MonotonicTime,
  NEVER,
  NO_LONGER_NEEDED,
  pickEarlier,
  subtractTime,
  toBootNanos,
} from "../../base/clock.ts";
import { type ContainerRun, describeMissingContainer } from "../../base/container.ts";
import { EXIT, SignalboxError } from "../../base/errors.ts";
import { findCommandHint } from "../../base/shell.ts";
import { CommandCgroup } from "./cgroup.ts";
import type { CommandExit, CommandSpec, Deadlines, GuardedCommand } from "./command.ts";
import type { Guardian, GuardianExit } from "./guardian-process.ts";
import { killOrphans } from "./orphans.ts";
import {
  decodeProcessStartTimes,
  EXITED_BITS,
  encodeEnvironmentBlock,
  encodeFrame,
  encodeWords,
  type Frame,
  GUARDIAN_EVENT,
  GUARDIAN_EXIT,
  GUARDIAN_REQUEST,
  type ProcessStartTimes,
  REFUSED_CODES,
  WIRE_VERSION,
} from "./wire.ts";

/** Why a command was terminated whose guardians, or one of them, have ended too early. */
const GUARDIAN_LOST = "its guardian was killed, or held by a debugger";

/** Parses an EXITED frame: a wait status as of waitpid(2), and bits. */
export function parseCommandExit(frame: Frame): CommandExit {
  const status = Number(frame.a);
  const signal = status & 0x7f;
  const isGuardianLost = (frame.b & EXITED_BITS.guardianLost) !== 0n;
  return {
    ...(isGuardianLost && { why: GUARDIAN_LOST }),
    code: signal === 0 ? (status >> 8) & 0xff : undefined,
    signal: signal === 0 ? undefined : signal,
    terminated: (frame.b & EXITED_BITS.terminated) !== 0n,
    leftovers: (frame.b & EXITED_BITS.leftovers) !== 0n,
  };
}

/** The exit of a command that was killed together with its guardian. */
export const KILLED_EXIT: CommandExit = {
  code: undefined,
  signal: constants.signals.SIGKILL,
  terminated: true,
  leftovers: false,
  why: GUARDIAN_LOST,
};

const INTERPRETER_HINT =
  "if the file is there, the program in its first line, or the loader of a binary, is not; lines must end with LF, not CR LF";

/** Builds the error for a failed exec: 127 when the file or its interpreter was not found, else 126, as in env(1). */
function createExecError(file: string, errno: number): SignalboxError {
  const [name, message] = getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, "unknown error"];
  if (errno === constants.errno.ENOENT) {
    // In an agent, a relative path may be another file.
    const hint = file.includes("/") && existsSync(file) ? INTERPRETER_HINT : findCommandHint(file);
    const what = `"${file}" was not found: ${message} (${name})`;
    return new SignalboxError(EXIT.notFound, hint === undefined ? what : `${what}; ${hint}`);
  }
  const why = errno === constants.errno.EISDIR ? "it is a directory" : `${message} (${name})`;
  return new SignalboxError(EXIT.notExecutable, `"${file}" cannot be executed: ${why}`);
}

/**
 * Builds the error for a start that the guardian refused. A late start has an external cause; the other reasons are
 * defects in signalbox.
 */
function createStartError(file: string, reason: bigint): SignalboxError {
  if (reason === REFUSED_CODES.tooLate)
    return new SignalboxError(
      EXIT.lost,
      `"${file}" was not started: its deadline had passed, or its termination was requested`,
    );
  const why = reason === REFUSED_CODES.unarmed ? "no deadline was armed" : "it was started before";
  return new SignalboxError(EXIT.internal, `"${file}" was not started: ${why}`);
}

/**
 * Builds the error for a guardian that ended before it reported a running command. A killed guardian is an external
 * cause.
 * @param code      exit code of the outer guardian; undefined when a signal ended it
 * @param launched  the guardian had received the order to start the command
 */
function createGuardianError(file: string, code: number | undefined, launched: boolean): SignalboxError {
  if (code === undefined || code === GUARDIAN_EXIT.innerKilled) {
    const what = launched
      ? `"${file}" was killed as it started, because its guardian was killed`
      : `"${file}" was not started: its guardian was killed before`;
    return new SignalboxError(
      EXIT.lost,
      `${what}; none of its processes is left; run it again; if it is killed again, signalbox doctor says whether the guardian is damaged`,
    );
  }
  return new SignalboxError(EXIT.internal, `the guardian of "${file}" ended with code ${code}`);
}

/** Builds the error for a guardian that ended by itself before it was ready. @param code  its exit code */
function createUnfitGuardianError(code: number | undefined): SignalboxError {
  const message =
    code === GUARDIAN_EXIT.setup
      ? "the guardian cannot work on this host, see its message on standard error; it needs Linux with /proc"
      : `the guardian ended with code ${code} and without a message: it is damaged, or of another version (signalbox doctor compares its hash); install signalbox again`;
  return new SignalboxError(EXIT.config, message);
}

/** Delay after which the runner acts if the guardian has not, ms: the guardian needs some time to kill. */
const GUARDIAN_TIMEOUT_MS = 250;
/** Time after which a guardian without an answer counts as stopped, ms. */
const ANSWERS_WITHIN = 500;
/** Interval between pings while the guardian answers but cannot kill a process yet, ms. */
const ASK_EVERY = 2_000;
/** Time in which a process of a container must appear, ms. */
const CONTAINER_START_MS = 10_000;
/** Interval between two looks for one, ms: it may end before its client does. */
const CONTAINER_CHECK_INTERVAL_MS = 1_000;
/** Time that a command has to end whose container is elsewhere, ms. Its deadlines may be earlier. */
const ELSEWHERE_TIMEOUT_MS = 10_000;

interface GuardianWatchdogPorts {
  clock: Clock;
  /** Wakes the guardians and requests a pong. */
  ping(): void;
  /** Kills the guardians. The processes that they guard are then killed as after any death of the guardians. */
  killGuardians(): void;
}

/** Checks the guardians at the horizon: stopped or frozen ones would let the command run on. */
export class GuardianWatchdog {
  readonly #ports: GuardianWatchdogPorts;
  #round = new AbortController();
  #killAt = NEVER;
  #hasAnswered = false;
  #isOver = false;

  constructor(ports: GuardianWatchdogPorts) {
    this.#ports = ports;
  }

  /** Sets the instant by which no process of the command may be left. It may move. */
  setDeadline(killAt: MonotonicTime): void {
    const isEarlier = killAt < this.#killAt;
    this.#killAt = killAt;
    if (!isEarlier || this.#isOver) return;
    this.#round.abort(NO_LONGER_NEEDED);
    this.#round = new AbortController();
    void this.#enforce(this.#round.signal).catch(() => {}); // stopped, or replaced by an earlier instant
  }

  /** Records an answer of the guardian. */
  recordPong(): void {
    this.#hasAnswered = true;
  }

  /** Call it when no process is left, or when the remaining ones may continue. */
  stop(): void {
    this.#isOver = true;
    this.#round.abort(NO_LONGER_NEEDED);
  }

  async #enforce(signal: AbortSignal): Promise<void> {
    const { clock, ping, killGuardians } = this.#ports;
    for (;;) {
      await this.#waitUntilDue(signal);
      this.#hasAnswered = false;
      ping();
      await clock.sleep(ANSWERS_WITHIN, signal);
      if (!this.#hasAnswered) return killGuardians();
      await clock.sleep(ASK_EVERY, signal);
    }
  }

  /** Resolves when the deadline has passed. Renewals may move it meanwhile. */
  async #waitUntilDue(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    for (;;) {
      const left = subtractTime(this.#killAt, clock.now()) + GUARDIAN_TIMEOUT_MS;
      if (left <= 0) return;
      await clock.sleep(left, signal);
    }
  }
}

export interface NativeCommandOptions<G extends Guardian> {
  spec: CommandSpec;
  clock: Clock;
  /** Requests for the command's environment, as frames. */
  environment: readonly Buffer[];
  /** The command already runs. */
  isRunning?: boolean;
  /** The value of SIGNALBOX_RUN in the environment of a command that already runs. */
  runId?: string | undefined;
  /**
   * Given if the guardian's boot-time clock is known to be that of this process. Requests then do not wait for the guardian.
   */
  readBootTime?: () => BootTime;
  /** Starts the guardian, or connects to one. Called once. @throws SignalboxError */
  createGuardian(onFrame: (frame: Frame) => void): G;
}

/** A command and its guardian: sends requests as frames, and settles the promises from the guardian's events. */
export class NativeGuardedCommand<G extends Guardian> implements GuardedCommand {
  protected readonly guardian: G;
  readonly #spec: CommandSpec;
  readonly #clock: Clock;
  readonly #words: Buffer[];
  readonly #environment: readonly Buffer[];
  readonly #watchdog: GuardianWatchdog;
  readonly #ready = Promise.withResolvers<void>();
  readonly #started = Promise.withResolvers<number>();
  readonly #exited = Promise.withResolvers<CommandExit>();
  readonly #gone = Promise.withResolvers<void>();
  /** The guardian's boot time, ns, and the local clock, read afterwards. */
  #clocks: { boot: bigint; now: MonotonicTime } | undefined;
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
  /** Remaining processes of the command may continue. */
  #isReleased = false;
  #runId: string | undefined;
  #terminateBy = NEVER;
  #startTimes: ProcessStartTimes = new Map();
  #cgroup = new CommandCgroup("");
  /** Why this object has terminated the command. */
  #why: string | undefined;

  /** @throws SignalboxError when an argument is invalid or the guardian refuses the command's environment */
  constructor({
    spec,
    clock,
    environment,
    createGuardian,
    isRunning = false,
    runId,
    readBootTime,
  }: NativeCommandOptions<G>) {
    this.#spec = spec;
    this.#clock = clock;
    this.#words = encodeCommandWords(spec);
    this.#environment = environment;
    this.#launched = isRunning;
    this.#runId = runId;
    if (readBootTime !== undefined) this.#compareClocks(toBootNanos(readBootTime()));
    this.#started.promise.catch(() => {}); // no listener before start()
    this.#ready.promise.catch(() => {});
    this.guardian = createGuardian((frame) => this.#handleFrame(frame));
    this.#watchdog = new GuardianWatchdog({
      clock,
      ping: () => this.#pingGuardians(),
      killGuardians: () => this.guardian.kill(),
    });
    this.guardian.ended.then((end) => this.#handleGuardianExit(end));
  }

  /**
   * Resolves when the guardian is ready. Rejects with a SignalboxError when it could not be started or cannot guard
   * here.
   */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get exited() {
    return this.#exited.promise;
  }

  get gone() {
    return this.#gone.promise;
  }

  arm(deadlines: Deadlines) {
    const isRoutine = this.#deadlines !== undefined && deadlines.killAt >= this.#deadlines.killAt;
    this.#deadlines = deadlines;
    if (this.#clocks !== undefined) this.#sendDeadlines(deadlines);
    this.#updateWatchdog(isRoutine);
  }

  async start(env: Record<string, string>) {
    const block = encodeEnvironmentBlock(env);
    const order = encodeFrame(GUARDIAN_REQUEST.start, BigInt(this.#lateStartCode), 0n, block);
    this.#runId = env.SIGNALBOX_RUN;
    this.#launched = true;
    this.#send(() => Buffer.concat([...this.#environment, ...this.#words, order]));
    this.#updateWatchdog();
    return this.#started.promise;
  }

  signal(name: NodeJS.Signals) {
    this.#send(() => encodeFrame(GUARDIAN_REQUEST.signal, BigInt(constants.signals[name])));
  }

  terminate(killAt: MonotonicTime) {
    this.#send(() => encodeFrame(GUARDIAN_REQUEST.terminate, this.#toBootTime(killAt)));
    this.#terminateBy = pickEarlier(this.#terminateBy, killAt);
    this.#updateWatchdog();
  }

  async release() {
    const ended = Promise.race([this.gone, this.guardian.ended]).then(() => undefined);
    const exit = this.#launched ? await Promise.race([this.exited, ended]) : undefined;
    this.#isReleased = exit?.terminated === false && this.#terminateBy === NEVER;
    this.guardian.wake();
    this.#send(() => encodeFrame(GUARDIAN_REQUEST.release));
    await this.guardian.ended;
  }

  /** Sends a request, as soon as the guardian's clock is known: only then can instants be converted. */
  #send(request: () => Buffer): void {
    if (this.#clocks === undefined) this.#unsent.push(request);
    else this.guardian.send(request());
  }

  #sendDeadlines({ termAt, killAt }: Deadlines): void {
    this.guardian.send(encodeFrame(GUARDIAN_REQUEST.arm, this.#toBootTime(termAt), this.#toBootTime(killAt)));
  }

  /**
   * Converts an instant of the local clock to nanoseconds of boot time. The guardian read its time before the local
   * clock was read, so the result is early by that interval, never late.
   */
  #toBootTime(instant: MonotonicTime): bigint {
    const { boot, now } = this.#clocks ?? { boot: 0n, now: instant };
    const ms = subtractTime(instant, now);
    if (!Number.isFinite(ms)) return ms > 0 ? 1n << 64n : 0n;
    return boot + BigInt(Math.floor(ms * 1e6));
  }

  /**
   * Wakes stopped guardians now. If they still do not answer when all processes must have ended, the watchdog kills
   * them.
   */
  #updateWatchdog(isRoutine = false): void {
    if (!this.#launched) return;
    this.guardian.wake(isRoutine);
    const killAt = this.#deadlines?.killAt ?? NEVER;
    this.#watchdog.setDeadline(pickEarlier(killAt, this.#terminateBy));
  }

  #pingGuardians(): void {
    this.guardian.wake();
    this.guardian.send(encodeFrame(GUARDIAN_REQUEST.ping));
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
    if (frame.kind === GUARDIAN_EVENT.exited) this.#handleExit(parseCommandExit(frame));
    if (frame.kind === GUARDIAN_EVENT.gone) this.#handleGone();
  }

  #handleStarted(pid: number): void {
    this.#hasStarted = true;
    this.#started.resolve(pid);
    const { container } = this.#spec;
    if (container !== undefined) void this.#checkContainer(container, pid);
  }

  /** Says if the container is not where it ends with the command. The signal of `exited` ends the wait. */
  async #checkContainer({ rule, onMissing }: ContainerRun, client: number): Promise<void> {
    const over = new AbortController();
    void this.exited.then(() => over.abort(NO_LONGER_NEEDED));
    for (let ms = 0; ms < CONTAINER_START_MS; ms += CONTAINER_CHECK_INTERVAL_MS) {
      await this.#clock.sleep(CONTAINER_CHECK_INTERVAL_MS, over.signal).catch(() => {});
      if (over.signal.aborted || this.#cgroup.hasContainer(client)) return;
    }
    const text = describeMissingContainer(CONTAINER_START_MS, rule);
    onMissing(text);
    if (rule !== "end") return;
    this.#why = text;
    this.terminate(addMs(this.#clock.now(), ELSEWHERE_TIMEOUT_MS));
  }

  #handleExit(exit: CommandExit): void {
    this.#exited.resolve({ ...exit, ...(exit.terminated && this.#why !== undefined && { why: this.#why }) });
  }

  #handlePlace({ a: inner, block }: Frame): void {
    this.guardian.setInnerPid(Number(inner));
    this.#cgroup = new CommandCgroup(block.toString(), this.guardian.owner);
  }

  /** Handles GONE. The guardian waits for the RELEASE, which confirms that all of its events were read. */
  #handleGone(): void {
    this.#watchdog.stop();
    this.#gone.resolve();
    this.guardian.send(encodeFrame(GUARDIAN_REQUEST.release));
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
    this.guardian.close();
  }

  /** @param boot  the guardian's clock, ns */
  #sendUnsent(boot: bigint): void {
    this.#compareClocks(boot);
    if (this.#deadlines !== undefined) this.#sendDeadlines(this.#deadlines);
    for (const request of this.#unsent.splice(0)) this.guardian.send(request());
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
    // Creating an error takes longer than everything else here, and after a normal end no caller would receive it.
    const lost =
      this.#hasStarted && code === GUARDIAN_EXIT.gone ? undefined : this.#explainLoss(code, failure);
    this.#ready.reject(lost);
    const mustKillLeftovers = code === undefined && !failure && this.#launched && !this.#isReleased;
    if (mustKillLeftovers)
      await this.#killLeftovers(); // before callers are notified and free the claim
    else if (code === undefined) this.#cgroup.remove();
    this.#started.reject(lost);
    if (code === GUARDIAN_EXIT.released) return;
    if (this.#launched) this.#exited.resolve(KILLED_EXIT);
    this.#gone.resolve();
  }

  get #lateStartCode(): number {
    const { rule, lateStartCode } = this.#spec.container ?? {};
    return rule === undefined ? 0 : (lateStartCode ?? 0);
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
    if (this.#lateStartCode !== 0) this.#cgroup.seal();
    const mark = {
      session: this.guardian.pid,
      runId: this.#runId,
      startTimes: this.#startTimes,
      cgroup: this.#cgroup,
      owner: this.guardian.owner,
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
