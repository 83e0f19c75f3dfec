import { constants } from "node:os";
import {
  addMs,
  type Clock,
  type Millis,
  type MonotonicTime,
  NO_LONGER_NEEDED,
  pickEarlier,
  subtractTime,
  type WallTime,
} from "../base/clock.ts";
import { EXIT, SignalboxError } from "../base/errors.ts";
import type { CommandExit, GuardedCommand } from "../process/guarded-command/command.ts";
import { type ClaimLoss, ClaimWatch, TOO_LATE } from "./claim-watch.ts";
import type { ClaimSession, RunPorts, RunRequest } from "./request.ts";
import type { Grant } from "./step.ts";

/** A command that ends sooner than this, in ms, is not watched: the grant has just confirmed its claim. */
const WATCH_AFTER_MS = 50;

/** Why the command was terminated. `signal`: the user sent a signal, so the command's own exit code counts. */
export interface CommandTermination {
  kind: "lost" | "timeout" | "signal";
  why: string;
}

/** The end of a command. None of its processes is left, except those that it left behind on purpose. */
export interface CommandOutcome {
  exit: CommandExit;
  ending: CommandTermination | undefined;
  /** Undefined if another process has started it. */
  pid?: number | undefined;
  /** Undefined if another process has started it, and its claim is gone. */
  startedAt?: WallTime;
  exitedAt?: WallTime;
}

/** Whether the command failed by itself, or took too long. A lost claim and a signal from outside are no failures of it. */
export function hasFailed({ exit, ending }: CommandOutcome): boolean {
  return ending === undefined ? exit.code !== 0 : ending.kind === "timeout";
}

export function computeExitCode({ exit, ending }: CommandOutcome, preservesStatus = false): number {
  if (ending?.kind === "lost") return EXIT.lost;
  if (ending?.kind === "timeout" && !preservesStatus) return EXIT.timeout;
  return exit.code ?? 128 + (exit.signal ?? 0);
}

/** Kills a command. Resolves when none of its processes is left. */
export async function killCommand(clock: Clock, command: GuardedCommand): Promise<CommandExit> {
  command.terminate(clock.now());
  const exit = await command.exited;
  await command.gone;
  return exit;
}

/** Builds the exit of a command of which only the exit code is known. */
export function toExit(code: number | undefined): CommandExit {
  return { code, signal: undefined, terminated: false, leftovers: false };
}

/** Holds a claim while its command runs, and ends the command when the claim is no longer reliable. */
export class CommandSupervisor {
  readonly #ports: RunPorts;
  readonly #request: RunRequest;
  readonly #watch: ClaimWatch;
  readonly #session: ClaimSession;
  readonly #command: GuardedCommand;
  readonly #over = new AbortController();
  #pid: number | undefined;
  #startedAt: WallTime;
  readonly #terminated = Promise.withResolvers<"terminated">();
  readonly #forwarded = new Set<NodeJS.Signals>();
  #ending: CommandTermination | undefined;
  /** The guardian has been asked to terminate the command. */
  #isTerminating = false;
  #isStopping = false;

  constructor(ports: RunPorts, request: RunRequest, grant: Grant, command: GuardedCommand) {
    this.#ports = ports;
    this.#request = request;
    this.#watch = new ClaimWatch(
      grant,
      (loss) => this.#lose(loss),
      () => this.#armDeadlines(),
    );
    this.#session = grant.attempt.session;
    this.#startedAt = grant.grantedAt;
    this.#command = command;
    this.#watch.keepAlive();
  }

  #armDeadlines(): void {
    this.#command.arm({ termAt: this.#watch.getTermTime(), killAt: this.#session.horizon });
  }

  /** Forwards a signal sent to the runner. After TERM and INT, the command has the termination timeout to end. */
  #forward(name: NodeJS.Signals): void {
    this.#command.signal(name);
    this.#forwarded.add(name);
    if (name !== "SIGTERM" && name !== "SIGINT") return;
    this.#isStopping = true;
    this.#runAfter(this.#request.terminationTimeout, () => this.#terminate({ kind: "signal", why: name }, 0));
  }

  /**
   * Starts the command and waits until it has ended.
   * @param env   variables for the command besides those of its specification
   * @param signals  signals; until the command starts, a signal ends the run
   * @param heldSince  when the claim began to be held, if this is a retry
   * @throws SignalboxError 125 to 127 when the command could not be started, RunInterruptedError, SessionLost
   */
  async run(
    env: Record<string, string>,
    signals: SignalRouter,
    heldSince = this.#ports.clock.now(),
  ): Promise<CommandOutcome> {
    try {
      await this.#waitForHorizon(signals.signal);
      signals.forwardTo((name) => this.#forward(name));
      this.#armDeadlines();
      this.#pid = await this.#command.start(env);
      this.#startedAt = this.#ports.clock.getWallTime();
      this.#ports.log.info("started", { command: this.#request.identity.command, pid: this.#pid });
      return await this.#supervise(heldSince, 0);
    } finally {
      this.#over.abort(NO_LONGER_NEEDED);
    }
  }

  /**
   * Takes over a command that another process has started, and waits until it has ended. Never rejects: after an error, which
   * leaves the claim unwatched, it kills the command.
   * @param startedAt  when it was started, if this is a retry
   */
  async resume(signals: SignalRouter, startedAt = this.#startedAt): Promise<CommandOutcome> {
    const { clock, log } = this.#ports;
    const measureSince = (wall: WallTime) => Math.max(0, clock.getWallTime() - wall);
    const heldSince = addMs(clock.now(), -measureSince(this.#startedAt));
    this.#startedAt = startedAt;
    try {
      signals.forwardAllTo((name) => this.#forward(name));
      this.#armDeadlines();
      log.info("resumed", { command: this.#request.identity.command });
      return await this.#supervise(heldSince, measureSince(startedAt));
    } catch (error) {
      log.error("the resumed run failed", { error: String(error) });
      return { exit: await killCommand(clock, this.#command), ending: { kind: "lost", why: String(error) } };
    } finally {
      this.#over.abort(NO_LONGER_NEEDED);
    }
  }

  /** @param elapsed  how long the command has run already */
  async #supervise(heldSince: MonotonicTime, elapsed: Millis): Promise<CommandOutcome> {
    this.#guard(heldSince, elapsed);
    await Promise.race([this.#command.exited, this.#terminated.promise]);
    return await this.#waitForEnd();
  }

  /**
   * Waits until the command has time to run. A command that would be terminated at once is not started, and a guardian
   * that was asked to terminate starts nothing.
   */
  async #waitForHorizon(leave: AbortSignal): Promise<void> {
    await this.#watch.waitForHorizon(() => this.#ending !== undefined, leave);
    if (this.#ending === undefined) return;
    throw new SignalboxError(EXIT.lost, `lost before the command could be started: ${this.#ending.why}`);
  }

  #guard(heldSince: MonotonicTime, elapsed: Millis): void {
    const { timeout, maxHold } = this.#request;
    this.#watch.followSession();
    // The guardian sends SIGTERM at the same time by itself. The runner records the reason.
    void this.#watch.followHorizon(this.#over.signal);
    void this.#watch.follow(WATCH_AFTER_MS, this.#over.signal);
    const expire = (why: string) => this.#expire({ kind: "timeout", why });
    if (timeout !== undefined) this.#runAfter(timeout - elapsed, () => expire("its timeout has passed"));
    if (maxHold === undefined) return;
    this.#runAfter(subtractTime(addMs(heldSince, maxHold), this.#ports.clock.now()), () =>
      expire("it has held its claim too long"),
    );
  }

  /** Waits until all processes of a terminated command are gone. Processes left behind on purpose may continue. */
  async #waitForEnd(): Promise<CommandOutcome> {
    const exit = await this.#command.exited;
    const exitedAt = this.#ports.clock.getWallTime();
    if (exit.terminated) this.#ending ??= { kind: "lost", why: exit.why ?? TOO_LATE };
    if (this.#ending !== undefined) await this.#command.gone;
    else if (exit.leftovers) await this.#endLeftovers(exit);
    return { exit, ending: this.#ending, pid: this.#pid, startedAt: this.#startedAt, exitedAt };
  }

  /**
   * Ends or releases the processes that the command left behind. They are released before the claim is freed: freeing
   * is retried while etcd is unavailable, and guarded processes would be killed when the deadlines pass.
   */
  async #endLeftovers(exit: CommandExit): Promise<void> {
    if (!this.#request.killLeftovers && !this.#isStopping && !this.#wasKilled(exit)) {
      await this.#command.release();
      return;
    }
    this.#ports.log.info("ending what the command left behind");
    this.#command.terminate(addMs(this.#ports.clock.now(), this.#request.terminationTimeout));
    await this.#command.gone;
  }

  /**
   * Returns whether a signal ended the command, so that it left nothing behind on purpose. A shell exits with 128 + the
   * number where KILL ended the process for which it waited, or where it handles a signal sent to the run.
   */
  #wasKilled({ code, signal }: CommandExit): boolean {
    const reported = ["SIGKILL" as const, ...this.#forwarded].map((name) => 128 + constants.signals[name]);
    return signal !== undefined || (code !== undefined && reported.includes(code));
  }

  /** Kills a command whose claim is gone at once: marks keep other runs from the claim only for a limited time. */
  #lose({ kind, why }: ClaimLoss): void {
    this.#terminate({ kind: "lost", why }, kind === "gone" ? 0 : this.#request.terminationTimeout);
  }

  /** Ends a command that has exceeded a limit. */
  #expire(ending: CommandTermination): void {
    const { limitSignal = "SIGTERM", terminationTimeout } = this.#request;
    if (limitSignal === "SIGTERM") return this.#terminate(ending, terminationTimeout);
    if (this.#over.signal.aborted || this.#ending !== undefined) return;
    this.#ending = ending;
    this.#ports.log.warn("signalling the command", { why: ending.why, signal: limitSignal });
    this.#command.signal(limitSignal);
    if (limitSignal === "SIGKILL") this.#terminate(ending, 0);
    else this.#runAfter(terminationTimeout, () => this.#terminate(ending, 0));
  }

  /** @param within  time until SIGKILL; the horizon applies if it is earlier */
  #terminate(ending: CommandTermination, within: Millis): void {
    if (this.#over.signal.aborted || this.#isTerminating) return;
    this.#isTerminating = true;
    if (this.#ending === undefined || ending.kind === "lost") this.#ending = ending; // a loss overrides a limit
    this.#ports.log.warn("terminating the command", { why: ending.why });
    this.#command.terminate(pickEarlier(addMs(this.#ports.clock.now(), within), this.#session.horizon));
    this.#terminated.resolve("terminated");
  }

  #runAfter(ms: Millis, act: () => void): void {
    void this.#ports.clock.sleep(ms, this.#over.signal).then(act, () => {});
  }
}

/** A signal ended the run before its command started. */
export class RunInterruptedError extends Error {
  /** 128 + the signal's number. */
  readonly exitCode: number;

  constructor(name: NodeJS.Signals) {
    super(`interrupted by ${name}`);
    this.name = "Interrupted";
    this.exitCode = 128 + constants.signals[name];
  }
}

/** The signals that ask a run to end. */
export const ENDING_SIGNALS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

/** Passes a signal to the command. */
type Forward = (name: NodeJS.Signals) => void;

/**
 * Routes signals sent to the runner. Until the command starts, they end the run; after that, they are forwarded. If the
 * command already runs, those that arrive before its claim is resumed are forwarded afterwards.
 */
export class SignalRouter {
  readonly #interrupted = new AbortController();
  readonly #stop: () => void;
  readonly #early: NodeJS.Signals[] = [];
  #forward: Forward | undefined;
  #ending: NodeJS.Signals | undefined;

  /** @param ignored  signals with another meaning while the run waits, such as reopening a log */
  constructor(ports: Pick<RunPorts, "onSignal">, ignored: readonly NodeJS.Signals[]) {
    this.#stop = ports.onSignal((name) => {
      if (ENDING_SIGNALS.includes(name)) this.#ending ??= name;
      if (this.#forward !== undefined) return this.#forward(name);
      this.#early.push(name);
      if (!ignored.includes(name)) this.#interrupted.abort(new RunInterruptedError(name));
    });
  }

  /** Aborts with `RunInterruptedError` when a signal ends the run. */
  get signal(): AbortSignal {
    return this.#interrupted.signal;
  }

  /** The first signal that has asked the run to end. */
  get ending(): NodeJS.Signals | undefined {
    return this.#ending;
  }

  /**
   * Forwards all later signals to the command. @throws RunInterruptedError when a signal has asked the run to end before,
   * even if it was forwarded: there is another command
   */
  forwardTo(forward: Forward): void {
    this.#interrupted.signal.throwIfAborted();
    if (this.#ending !== undefined) throw new RunInterruptedError(this.#ending);
    this.#forward = forward;
  }

  /** Forwards all signals to a command that was already started, including those that arrived before. */
  forwardAllTo(forward: Forward): void {
    this.#forward = forward;
    for (const name of this.#early.splice(0)) forward(name);
  }

  close(): void {
    this.#stop();
  }
}
