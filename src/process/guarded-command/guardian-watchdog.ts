import type { Clock } from "../../base/clock.ts";
import { OVER } from "../../base/over.ts";

/** How much later than the guardian the runner acts, ms: the guardian needs some time to kill. */
const PATIENCE = 250;
/** Time after which a guardian without an answer counts as stopped, ms. */
const ANSWERS_WITHIN = 500;
/** Interval between pings while the guardian answers but cannot kill a process yet, ms. */
const ASK_EVERY = 2_000;

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
  #killAt = Number.POSITIVE_INFINITY;
  #hasAnswered = false;
  #isOver = false;

  constructor(ports: GuardianWatchdogPorts) {
    this.#ports = ports;
  }

  /** Sets the instant, on the clock, by which no process of the command may be left. It may move. */
  setDeadline(killAt: number): void {
    const isEarlier = killAt < this.#killAt;
    this.#killAt = killAt;
    if (!isEarlier || this.#isOver) return;
    this.#round.abort(OVER);
    this.#round = new AbortController();
    void this.#enforce(this.#round.signal).catch(() => {}); // stopped, or replaced by an earlier instant
  }

  /** Records an answer of the guardian. */
  recordPong(): void {
    this.#hasAnswered = true;
  }

  /** Call it when no process is left, or none is to be ended any more. */
  stop(): void {
    this.#isOver = true;
    this.#round.abort(OVER);
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
      const left = this.#killAt + PATIENCE - clock.now();
      if (left <= 0) return;
      await clock.sleep(left, signal);
    }
  }
}
