import type { ContextSummary } from "../../commands/check/context/describe-contexts.ts";
import { askCluster } from "../../commands/check/context/describe-contexts.ts";
import type { CommandContext } from "../../commands/store-command.ts";

/** Whether the cluster of a context has answered the last request. */
type ContextState = "ok" | "away";

/** Time between two rounds, ms. */
const EVERY = 15_000;
/** Time limit of one request, with its connection, ms. */
const PATIENCE = 3_000;
/** Maximum number of contexts that are asked in a round. */
const MOST = 16;

/**
 * Asks the clusters of other contexts whether they answer: one small read each, one cluster after the other, on a connection of
 * its own that is closed afterwards. Never throws.
 */
export class ContextProbe {
  readonly #listOthers: () => readonly ContextSummary[];
  readonly #ports: Pick<CommandContext, "clock" | "random">;
  readonly #onChange: () => void;
  readonly #states = new Map<string, ContextState>();
  readonly #stop = new AbortController();

  constructor(
    listOthers: () => readonly ContextSummary[],
    ports: Pick<CommandContext, "clock" | "random">,
    onChange: () => void,
  ) {
    this.#listOthers = listOthers;
    this.#ports = ports;
    this.#onChange = onChange;
  }

  /** @returns undefined if the cluster was not asked yet */
  getState(name: string): ContextState | undefined {
    return this.#states.get(name);
  }

  begin(): void {
    void this.#run();
  }

  end(): void {
    this.#stop.abort(new Error("the console shows another context"));
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      for (const { name, config } of this.#listOthers().slice(0, MOST)) {
        if (signal.aborted) return;
        if ("fault" in config) continue;
        const state = await this.#ask(config);
        if (this.#states.get(name) !== state) this.#onChange();
        this.#states.set(name, state);
      }
      await this.#ports.clock.sleep(EVERY, signal).catch(() => {});
    }
  }

  async #ask(config: Exclude<ContextSummary["config"], { fault: string }>): Promise<ContextState> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(PATIENCE)]);
    try {
      await askCluster(config, this.#ports, signal);
      return "ok";
    } catch {
      return "away";
    }
  }
}
