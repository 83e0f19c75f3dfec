import { constants } from "node:os";
import type { Clock } from "../base/clock.ts";
import { EXIT, SignalboxError } from "../base/errors.ts";
import type { CommandExit, CommandSpec, Deadlines, GuardedCommand } from "./command.ts";
import { commandExit, execFailure, KILLED, startRefusal } from "./exits.ts";
import { type GuardianEnd, Link } from "./link.ts";
import { killOrphans } from "./orphans.ts";
import { encode, environmentBlock, type Frame, GUARDIAN_EXIT, NEWS, ORDER, WIRE_VERSION } from "./wire.ts";

/** A command and its guardian: orders go out as frames, and what the guardian tells settles the promises. */
export class Guarded implements GuardedCommand {
  readonly #spec: CommandSpec;
  readonly #clock: Clock;
  readonly #link: Link;
  readonly #ready = Promise.withResolvers<void>();
  readonly #started = Promise.withResolvers<number>();
  readonly #exited = Promise.withResolvers<CommandExit>();
  readonly #gone = Promise.withResolvers<void>();
  /** The guardian's boot time, in ns, and our clock when we heard of it. */
  #hello = { boot: 0n, now: 0 };
  /** A process of the command may exist. */
  #launched = false;
  #runId: string | undefined;

  /** @throws SignalboxError when the system refuses the command's arguments or environment */
  constructor(binary: string, spec: CommandSpec, clock: Clock) {
    this.#spec = spec;
    this.#clock = clock;
    this.#started.promise.catch(() => {}); // nobody listens before start()
    this.#ready.promise.catch(() => {});
    this.#link = new Link(binary, spec, (frame) => this.#hear(frame));
    this.#link.ended.then((end) => this.#afterGuardian(end));
  }

  /** The guardian guards. Rejects with a SignalboxError when it could not be started or cannot guard here. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get exited(): Promise<CommandExit> {
    return this.#exited.promise;
  }

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  arm({ termAt, killAt }: Deadlines): void {
    this.#link.send(encode(ORDER.arm, this.#bootTime(termAt), this.#bootTime(killAt)));
  }

  async start(env: Record<string, string>): Promise<number> {
    const order = encode(ORDER.start, 0n, 0n, environmentBlock(env));
    this.#runId = env.SIGNALBOX_RUN;
    this.#launched = true;
    this.#link.send(order);
    return this.#started.promise;
  }

  signal(name: NodeJS.Signals): void {
    this.#link.send(encode(ORDER.signal, BigInt(constants.signals[name])));
  }

  terminate(killAt: number): void {
    this.#link.send(encode(ORDER.terminate, this.#bootTime(killAt)));
  }

  async release(): Promise<void> {
    if (this.#launched) await Promise.race([this.exited, this.gone, this.#link.ended]);
    this.#link.send(encode(ORDER.release));
    await this.#link.ended;
  }

  /**
   * An instant of our clock in nanoseconds of boot time. The guardian stated its time before we noted ours, so the
   * result is early by what that took, never late.
   */
  #bootTime(instant: number): bigint {
    const ms = instant - this.#hello.now;
    if (!Number.isFinite(ms)) return ms > 0 ? 1n << 64n : 0n;
    return this.#hello.boot + BigInt(Math.floor(ms * 1e6));
  }

  #hear(frame: Frame): void {
    const { file } = this.#spec;
    if (frame.kind === NEWS.hello) this.#greet(frame);
    if (frame.kind === NEWS.started) this.#started.resolve(Number(frame.a));
    if (frame.kind === NEWS.failed) this.#started.reject(execFailure(file, Number(frame.a)));
    if (frame.kind === NEWS.refused) this.#refused(frame.a);
    if (frame.kind === NEWS.exited) this.#exited.resolve(commandExit(frame));
    if (frame.kind === NEWS.gone) this.#takeLeave();
  }

  /** The guardian waits for the farewell: by it, all of its news were read. */
  #takeLeave(): void {
    this.#gone.resolve();
    this.#link.send(encode(ORDER.release));
  }

  #greet({ a: boot, b: version }: Frame): void {
    this.#hello = { boot, now: this.#clock.now() };
    if (version === WIRE_VERSION) {
      this.#ready.resolve();
      return;
    }
    const message = `the guardian speaks version ${version}, not ${WIRE_VERSION}; build it anew with \`npm run build\``;
    this.#ready.reject(new SignalboxError(EXIT.config, message));
    this.#link.close();
  }

  #refused(reason: bigint): void {
    this.#launched = false;
    this.#started.reject(startRefusal(this.#spec.file, reason));
  }

  /** Both the outer guardian and the socket have ended: whatever is still open is settled now. */
  async #afterGuardian({ code, failure }: GuardianEnd): Promise<void> {
    const lost = failure ?? new SignalboxError(EXIT.internal, `the guardian of "${this.#spec.file}" ended`);
    this.#ready.reject(code === GUARDIAN_EXIT.setup ? cannotGuard() : lost);
    const mustAvenge = code === undefined && !failure && this.#launched;
    if (mustAvenge) await this.#avenge(); // before anybody hears of it, and frees the claim
    this.#started.reject(lost);
    if (code === GUARDIAN_EXIT.released) return;
    if (this.#launched) this.#exited.resolve(KILLED);
    this.#gone.resolve();
  }

  /** Killed guardians say nothing: perhaps the inner one finished its work, perhaps nobody did. So look ourselves. */
  async #avenge(): Promise<void> {
    if (this.#link.pid === undefined) return;
    await killOrphans({ session: this.#link.pid, runId: this.#runId }, (ms) => this.#clock.sleep(ms));
  }
}

function cannotGuard(): SignalboxError {
  const message = "the guardian cannot work here, as it said on standard error; it needs Linux and its /proc";
  return new SignalboxError(EXIT.config, message);
}
