import type { LaunchedCall } from "../process/agent-socket/launched-call.ts";
import type { AgentContext } from "./agent-context.ts";
import { serveCall } from "./serve-call.ts";

/** How long the first session may take to open, ms. After that, the first call opens it. */
const OPEN_WITHIN = 10_000;

/** How long claims of ended commands may take to be freed when the agent ends, ms. */
const FINISH_WITHIN = 2_000;

/** Serves calls, and counts them. */
export class Agent {
  readonly #context: AgentContext;
  readonly #served = new Map<string, LaunchedCall>();
  readonly #declined = new Map<string, number>();
  #ended = 0;

  constructor(context: AgentContext) {
    this.#context = context;
  }

  /** Serves a call to its end. */
  serve(call: LaunchedCall): void {
    void serveCall(this.#context, this.#served, call).then((end) => {
      if (end.kind === "served") this.#ended += 1;
      else {
        this.#declined.set(end.why, (this.#declined.get(end.why) ?? 0) + 1);
        this.#context.log.debug("declined", { why: end.why });
      }
    });
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
    const declined = [...this.#declined].map(([why, count]) => `${count} declined: ${why}`);
    return [`${this.#served.size} calls, ${this.#ended} served before`, ...declined].join("; ");
  }
}
