import type { LaunchedCall } from "../process/agent-socket/launched-call.ts";
import type { AgentContext } from "./agent-context.ts";
import { serveCall } from "./serve-call.ts";

/** How long the first session may take to open, ms. After that, the first call opens it. */
const OPEN_WITHIN = 10_000;

/** How long claims of ended commands may take to be freed when the agent ends, ms. */
const FINISH_WITHIN = 2_000;

/** Serves calls. */
export class Agent {
  readonly #context: AgentContext;
  readonly #served = new Map<string, LaunchedCall>();

  constructor(context: AgentContext) {
    this.#context = context;
  }

  /** Serves a call to its end. */
  serve(call: LaunchedCall): void {
    void serveCall(this.#context, this.#served, call).then((end) => {
      if (end.kind === "served") this.#context.statistics.countServed();
      if (end.kind === "declined") this.countDeclined(end.why);
    });
  }

  /** Counts a call that was declined. @param why  one word */
  countDeclined(why: string): void {
    this.#context.statistics.countDeclined(why);
    this.#context.log.debug("declined", { why });
  }

  /** Counts the calls that are being served: those whose command runs or is about to, and the others. */
  countCalls(): { held: number; waiting: number } {
    let held = 0;
    for (const call of this.#served.values()) if (call.isGuarded) held += 1;
    return { held, waiting: this.#served.size - held };
  }

  /** Opens the session of the usual time to live, so that the first call need not wait for it. Never rejects. */
  async openFirstSession(): Promise<void> {
    const { sessions, settings, clock, log } = this.#context;
    await sessions.warmUp(settings.ttl / 1000, clock.now() + OPEN_WITHIN).catch((error) => {
      log.warn("no session could be opened yet", { error: String(error) });
    });
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
