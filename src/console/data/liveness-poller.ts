import type { CommandContext } from "../../commands/store-command.ts";
import type { SessionLivenessMap } from "../../model/explain/explain-text.ts";
import { type RunnerKey, readRunnerLiveness, selectFirstSessions } from "../../observe/runner-liveness.ts";

/** Maximum number of sessions polled. More would take too long. */
const MOST = 30;
/** Interval between two polls of a session, ms, and pause after a cursor move, because more moves may follow, ms. */
const EVERY = 2_000;
const SETTLE = 120;

/** Polls the sessions of the visible runs. */
export class LivenessPoller {
  readonly #context: CommandContext;
  readonly #onChange: () => void;
  #wanted: readonly RunnerKey[] = [];
  #known: SessionLivenessMap = new Map();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  readonly #stop = new AbortController();

  constructor(context: CommandContext, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
  }

  get known(): SessionLivenessMap {
    return this.#known;
  }

  /** Selects the sessions to poll. */
  watchSessions(tickets: readonly RunnerKey[]): void {
    const wanted = selectFirstSessions(tickets, MOST);
    const isSame = wanted.every(({ session }, at) => session === this.#wanted[at]?.session);
    if (isSame && wanted.length === this.#wanted.length) return;
    this.#wanted = wanted;
    this.#schedulePoll(SETTLE);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stop.abort(new Error("the view was closed"));
  }

  #schedulePoll(pause: number): void {
    clearTimeout(this.#timer);
    if (this.#wanted.length > 0 && !this.#stop.signal.aborted)
      this.#timer = setTimeout(() => void this.#poll(), pause);
  }

  async #poll(): Promise<void> {
    if (this.#isAsking) return this.#schedulePoll(SETTLE);
    this.#isAsking = true;
    const limit = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(EVERY)]);
    try {
      this.#known = await readRunnerLiveness(this.#context, this.#wanted, limit);
      this.#onChange();
    } catch {
      // The request timed out or was stopped. The known states stay; the status line shows whether etcd answers.
    } finally {
      this.#isAsking = false;
      this.#schedulePoll(EVERY);
    }
  }
}
