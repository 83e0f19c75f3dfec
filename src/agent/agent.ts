import { StoreError } from "../etcd/store.ts";
import type { LaunchedCall } from "../process/agent-socket/launched-call.ts";
import type { AgentContext } from "./agent-context.ts";
import { serveCall } from "./serve-call.ts";

/** How long the first session may take to open, ms. After that, the first call opens it. */
const OPEN_WITHIN = 10_000;

/** How long a new call waits until it is known whether etcd lets this agent have sessions, ms. Launchers wait 1 s. */
const KNOWN_WITHIN = 500;
/** Interval at which an agent without the permission asks again, ms. */
const ASK_AGAIN = 10_000;

/** Serves calls, and counts them. */
export class Agent {
  readonly #context: AgentContext;
  readonly #served = new Map<string, LaunchedCall>();
  readonly #declined = new Map<string, number>();
  readonly #firstTry = Promise.withResolvers<void>();
  #isTried = false;
  /** Why this agent cannot have sessions, although runs without an agent may do what they need. */
  #obstacle: string | undefined;
  #ended = 0;

  constructor(context: AgentContext) {
    this.#context = context;
  }

  /** Serves a call to its end. */
  serve(call: LaunchedCall): void {
    if (call.state === "new" && !this.#isTried) void this.#waitForFirstTry().then(() => this.#serve(call));
    else this.#serve(call);
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
      await sessions.warmUp(settings.ttl / 1000, clock.now() + OPEN_WITHIN);
      return undefined;
    } catch (error) {
      log.warn("no session could be opened yet", { error: String(error) });
      return error instanceof StoreError && error.kind === "permission" ? error.message : undefined;
    }
  }

  async #waitForFirstTry(): Promise<void> {
    await Promise.race([this.#firstTry.promise, this.#context.clock.sleep(KNOWN_WITHIN)]);
  }

  #serve(call: LaunchedCall): void {
    if (call.state === "new" && this.#obstacle !== undefined) {
      call.decline(this.#obstacle);
      return this.#countDeclined("permission");
    }
    void serveCall(this.#context, this.#served, call).then((end) => {
      if (end.kind === "served") this.#ended += 1;
      else this.#countDeclined(end.why);
    });
  }

  #countDeclined(why: string): void {
    this.#declined.set(why, (this.#declined.get(why) ?? 0) + 1);
    this.#context.log.debug("declined", { why });
  }

  /** Describes what it does, in one line. */
  describe(): string {
    const declined = [...this.#declined].map(([why, count]) => `${count} declined: ${why}`);
    return [`${this.#served.size} calls, ${this.#ended} served before`, ...declined].join("; ");
  }
}
