import { setImmediate as waitForTurn } from "node:timers/promises";
import { addMs, type Millis, type MonotonicTime, subtractTime, waitAtMost } from "../core/base/clock.ts";
import { StoreError } from "../core/etcd/store.ts";
import type { LaunchedCall } from "../core/process/agent-socket/launched-call.ts";
import type { AgentContext } from "./agent-context.ts";
import { serveCall } from "./serve-call.ts";

/** How long the first session may take to open, ms. After that, the first call opens it. */
const OPEN_TIMEOUT_MS = 10_000;

/** How long a new call waits until it is known whether etcd grants this agent sessions, ms. Launchers wait longer. */
const KNOWN_WITHIN = 500;
/** Interval at which an agent that could not open a session tries again, ms. */
const RETRY_INTERVAL = 10_000;
/** How long the agent waits at its end until the claims of ended commands are free, ms. */
const FINISH_WITHIN = 2_000;

/** Serves calls. */
export class Agent {
  readonly #context: AgentContext;
  readonly #served = new Map<string, LaunchedCall>();
  readonly #firstTry = Promise.withResolvers<void>();
  #isTried = false;
  /** Resolves once each call that came before the first session is being served. */
  #early: Promise<unknown> = Promise.resolve();
  /** When a call was last served to its end, or the agent was started. */
  #lastServed: MonotonicTime;
  /**
   * The permission that etcd denies to this agent; undefined if it can have sessions. Runs without an agent may not
   * need it.
   */
  #obstacle: string | undefined;

  constructor(context: AgentContext) {
    this.#context = context;
    this.#lastServed = context.clock.now();
  }

  serve(call: LaunchedCall): void {
    const { clock } = this.#context;
    if (this.#isTried || call.request.state !== "new") return this.#serve(call);
    const known = waitAtMost(clock, KNOWN_WITHIN, this.#firstTry.promise);
    this.#early = Promise.all([this.#early, known]).then(() => {
      this.#serve(call);
      return waitForTurn(); // timers and the answers of etcd have theirs before the next one
    });
  }

  /** Counts calls that were declined. @param why  one word */
  countDeclined(why: string, count = 1): void {
    this.#context.statistics.countDeclined(why, count);
    this.#context.log.debug("declined", { why, count });
  }

  /** Counts the calls that are being served: those whose command runs or is about to, and the others. */
  countCalls(): { held: number; waiting: number } {
    let held = 0;
    for (const call of this.#served.values()) if (call.isGuarded) held += 1;
    return { held, waiting: this.#served.size - held };
  }

  /**
   * Opens the session of the usual time to live, so that the first call need not wait for it. While etcd refuses the
   * permission, new calls are declined. Never rejects.
   */
  async openFirstSession(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    while (!signal.aborted) {
      this.#obstacle = await this.#tryFirstSession();
      this.#isTried = true;
      this.#firstTry.resolve();
      if (this.#obstacle === undefined) return;
      await clock.sleep(RETRY_INTERVAL, signal).catch(() => {}); // the agent ends
    }
  }

  /** @returns the permission that etcd denies; undefined if the session is open, or another try may open it */
  async #tryFirstSession(): Promise<string | undefined> {
    const { sessions, settings, clock, log } = this.#context;
    try {
      await sessions.keepOpen(settings.ttl / 1000, addMs(clock.now(), OPEN_TIMEOUT_MS));
      return undefined;
    } catch (error) {
      log.warn("no session could be opened yet", { error: String(error) });
      return error instanceof StoreError && error.kind === "permission" ? error.message : undefined;
    }
  }

  #serve(call: LaunchedCall): void {
    if (call.request.state === "new" && this.#obstacle !== undefined) {
      call.decline(this.#obstacle);
      return this.countDeclined("permission");
    }
    void serveCall(this.#context, this.#served, call).then((end) => {
      if (end.kind === "served") {
        this.#context.statistics.served += 1;
        this.#lastServed = this.#context.clock.now();
      }
      if (end.kind === "declined") this.countDeclined(end.why);
    });
  }

  /** Returns how long no call has been served; 0 while one is. */
  getIdleTime(): Millis {
    return this.#served.size > 0 ? 0 : subtractTime(this.#context.clock.now(), this.#lastServed);
  }

  /** Waits briefly until the claims of all ended commands are free. */
  async finishEnded(): Promise<void> {
    const { clock } = this.#context;
    const until = addMs(clock.now(), FINISH_WITHIN);
    const isFinishing = () => [...this.#served.values()].some(({ hasExited }) => hasExited);
    while (isFinishing() && clock.now() < until) await clock.sleep(FINISH_WITHIN / 100);
  }

  /** Describes what the agent does, in one line. */
  describe(): string {
    const { served, declined } = this.#context.statistics;
    const refused = [...declined].map(([why, count]) => `${count} declined: ${why}`);
    return [`${this.#served.size} calls, ${served} served before`, ...refused].join("; ");
  }
}
