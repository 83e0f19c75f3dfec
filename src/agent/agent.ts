import { waitAtMost } from "../base/wait.ts";
import { StoreError } from "../etcd/store.ts";
import type { LaunchedCall } from "../process/agent-socket/launched-call.ts";
import type { AgentContext } from "./agent-context.ts";
import { serveCall } from "./serve-call.ts";

/** How long the first session may take to open, ms. After that, the first call opens it. */
const OPEN_WITHIN = 10_000;

/** How long a new call waits until it is known whether etcd lets this agent have sessions, ms. Launchers wait longer. */
const KNOWN_WITHIN = 500;
/** Interval at which an agent without the permission asks again, ms. */
const ASK_AGAIN = 10_000;
/** How long claims of ended commands may take to be freed when the agent ends, ms. */
const FINISH_WITHIN = 2_000;

/** Serves calls. */
export class Agent {
  readonly #context: AgentContext;
  readonly #served = new Map<string, LaunchedCall>();
  readonly #firstTry = Promise.withResolvers<void>();
  #isTried = false;
  /** When a call was last served to its end, or the agent was started. */
  #lastServed: number;
  /** Why this agent cannot have sessions, although runs without an agent may do what they need. */
  #obstacle: string | undefined;

  constructor(context: AgentContext) {
    this.#context = context;
    this.#lastServed = context.clock.now();
  }

  /** Serves a call to its end. */
  serve(call: LaunchedCall): void {
    const { clock } = this.#context;
    if (this.#isTried || call.request.state !== "new") this.#serve(call);
    else void waitAtMost(clock, KNOWN_WITHIN, this.#firstTry.promise).then(() => this.#serve(call));
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
      await clock.sleep(ASK_AGAIN, signal).catch(() => {}); // the agent ends
    }
  }

  /** @returns what etcd's administrator must change first */
  async #tryFirstSession(): Promise<string | undefined> {
    const { sessions, settings, clock, log } = this.#context;
    try {
      await sessions.keepOpen(settings.ttl / 1000, clock.now() + OPEN_WITHIN);
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

  /** Returns for how long no call was served, ms: 0 while one is. */
  getIdleTime(): number {
    return this.#served.size > 0 ? 0 : this.#context.clock.now() - this.#lastServed;
  }

  /** Waits for a short time until no claim is being freed whose command has ended. */
  async finishEnded(): Promise<void> {
    const { clock } = this.#context;
    const until = clock.now() + FINISH_WITHIN;
    const isFinishing = () => [...this.#served.values()].some(({ hasExited }) => hasExited);
    while (isFinishing() && clock.now() < until) await clock.sleep(FINISH_WITHIN / 100);
  }

  /** Describes what it does, in one line. */
  describe(): string {
    const { served, declined } = this.#context.statistics;
    const refused = [...declined].map(([why, count]) => `${count} declined: ${why}`);
    return [`${this.#served.size} calls, ${served} served before`, ...refused].join("; ");
  }
}
