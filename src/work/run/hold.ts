import { EXIT, SignalboxError } from "../../base/errors.ts";
import type { Keeper, Proof, Session, SessionLost } from "../../etcd/session.ts";
import type { CommandExit, GuardedCommand } from "../../process/command.ts";
import type { Grant } from "./acquire.ts";
import type { Loss } from "./inspect.ts";
import type { RunPorts, RunRequest } from "./request.ts";
import type { SignalDesk, SignalTarget } from "./signals.ts";
import { ClaimWatch } from "./watch.ts";

/** How long a command gets to end itself when its claim is gone already, in ms: every one of them is a risk. */
const WHEN_GONE = 1_000;
/** A command that ends sooner than this is not watched: the grant has just proved its claim. In ms. */
const WATCH_AFTER = 50;

/** Why the command was terminated. `signal`: the user asked for it, so its own exit code counts. */
export interface Ending {
  kind: "lost" | "timeout" | "signal";
  why: string;
}

const TOO_LATE: Ending = { kind: "lost", why: "the session could not be renewed in time" };

/** How a held command ended. Nothing of it is left, unless it left it behind by its own will. */
export interface Outcome {
  exit: CommandExit;
  ending: Ending | undefined;
}

/** Holds a claim while its command runs, and ends the command when the claim cannot be relied on any more. */
export class Holding implements Keeper, SignalTarget {
  readonly #ports: RunPorts;
  readonly #request: RunRequest;
  readonly #watch: ClaimWatch;
  readonly #session: Session;
  readonly #command: GuardedCommand;
  readonly #over = new AbortController();
  readonly #terminated = Promise.withResolvers<"terminated">();
  #ending: Ending | undefined;
  #isStopping = false;

  constructor(ports: RunPorts, request: RunRequest, grant: Grant, command: GuardedCommand) {
    this.#ports = ports;
    this.#request = request;
    this.#watch = new ClaimWatch(ports, request, grant, (loss) => this.#lose(loss));
    this.#session = grant.attempt.session;
    this.#command = command;
  }

  /** For the session: whether the claim still stands. */
  prove(): Promise<Proof> {
    return this.#watch.prove();
  }

  /** For the session: the horizon has moved, the command may live longer. */
  extended(): void {
    this.#command.arm({ termAt: this.#watch.termAt(), killAt: this.#session.horizon });
  }

  /** A signal sent to the runner: forwarded; after TERM and INT the command has the termination timeout to end. */
  forward(name: NodeJS.Signals): void {
    this.#command.signal(name);
    if (name !== "SIGTERM" && name !== "SIGINT") return;
    this.#isStopping = true;
    this.#after(this.#request.terminationTimeout, () => this.#terminate({ kind: "signal", why: name }, 0));
  }

  /**
   * Starts the command and stays until it has ended.
   * @param env   variables for the command beside those of its specification
   * @param desk  signals; until the command starts they make the run leave
   * @throws SignalboxError 125 to 127 when the command could not be started, Interrupted, SessionLost
   */
  async run(env: Record<string, string>, desk: SignalDesk): Promise<Outcome> {
    try {
      await this.#enoughHorizon(desk.signal);
      desk.forwardTo(this);
      this.extended();
      const grantedAt = this.#ports.clock.now();
      const pid = await this.#command.start(env);
      this.#ports.log.info("started", { command: this.#request.identity.command, pid });
      this.#guard(grantedAt);
      await Promise.race([this.#command.exited, this.#terminated.promise]);
      return await this.#ended();
    } finally {
      this.#over.abort();
    }
  }

  /**
   * A command that would have to be terminated at once is not started; and a guardian that was told to terminate starts
   * nothing any more.
   */
  async #enoughHorizon(leave: AbortSignal): Promise<void> {
    await this.#watch.enoughHorizon(() => this.#ending !== undefined, leave);
    if (this.#ending === undefined) return;
    throw new SignalboxError(EXIT.lost, `lost before the command could be started: ${this.#ending.why}`);
  }

  #guard(grantedAt: number): void {
    const { timeout, maxHold, killsAtLimit, terminationTimeout } = this.#request;
    this.#session.signal.addEventListener("abort", () => this.#sessionLost(), { once: true });
    if (this.#session.signal.aborted) this.#sessionLost();
    void this.#watchHorizon();
    void this.#watch.follow(WATCH_AFTER, this.#over.signal);
    const expire = (why: string) =>
      this.#terminate({ kind: "timeout", why }, killsAtLimit ? 0 : terminationTimeout);
    if (timeout !== undefined) this.#after(timeout, () => expire("its timeout has passed"));
    if (maxHold === undefined) return;
    this.#after(grantedAt + maxHold - this.#ports.clock.now(), () =>
      expire("it has held its claim too long"),
    );
  }

  /** Waits until nothing is left of a command that was ended; what one left behind of its own will may live on. */
  async #ended(): Promise<Outcome> {
    if (this.#ending !== undefined) await this.#command.gone;
    const exit = await this.#command.exited;
    if (this.#ending === undefined && exit.terminated) {
      this.#ending = TOO_LATE;
      await this.#command.gone;
    } else if (this.#ending === undefined && exit.leftovers && this.#endsLeftovers()) {
      this.#ports.log.info("ending what the command left behind");
      this.#command.terminate(this.#ports.clock.now() + this.#request.terminationTimeout);
      await this.#command.gone;
    }
    return { exit, ending: this.#ending };
  }

  #endsLeftovers(): boolean {
    return this.#request.killLeftovers || this.#isStopping;
  }

  #lose({ kind, why }: Loss): void {
    const grace = kind === "gone" ? Math.min(WHEN_GONE, this.#request.terminationTimeout) : undefined;
    this.#terminate({ kind: "lost", why }, grace ?? this.#request.terminationTimeout);
  }

  #sessionLost(): void {
    const { kind, message } = this.#session.signal.reason as SessionLost;
    if (kind === "horizon") this.#terminate({ kind: "lost", why: message }, 0);
    else this.#lose({ kind: "gone", why: message });
  }

  /** @param within  ms until SIGKILL; the horizon comes first if it is earlier */
  #terminate(ending: Ending, within: number): void {
    if (this.#over.signal.aborted || this.#ending !== undefined) return;
    this.#ending = ending;
    this.#ports.log.warn("terminating the command", { why: ending.why });
    this.#command.terminate(Math.min(this.#ports.clock.now() + within, this.#session.horizon));
    this.#terminated.resolve("terminated");
  }

  /** The guardian sends SIGTERM at the same instant by itself; this is how the runner comes to know why. */
  async #watchHorizon(): Promise<void> {
    await this.#watch.horizonNear(this.#over.signal);
    this.#terminate(TOO_LATE, this.#request.terminationTimeout);
  }

  #after(ms: number, act: () => void): void {
    void this.#ports.clock.sleep(ms, this.#over.signal).then(act, () => {});
  }
}
