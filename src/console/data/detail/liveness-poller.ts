import type { CommandContext } from "../../../commands/store-command.ts";
import type { SessionLivenessMap } from "../../../model/explain/explain-text.ts";
import type { QueueEntry } from "../../../protocol/ticket.ts";
import { readSessionLiveness, type SessionTimeToLive } from "../../../work/observe/session-liveness.ts";

/** Maximum number of sessions polled. More would take too long. */
const MOST = 30;
/** Interval between two polls of a session, ms, and pause after a cursor move, because more moves may follow, ms. */
const EVERY = 2_000;
const SETTLE = 120;

/** Polls the sessions of the visible runs. */
export class LivenessPoller {
  readonly #context: CommandContext;
  readonly #onChange: () => void;
  #wanted: readonly bigint[] = [];
  #known: ReadonlyMap<bigint, SessionTimeToLive> = new Map();
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
  watchSessions(tickets: readonly Pick<QueueEntry, "session">[]): void {
    const sessions = [...new Set(tickets.map(({ session }) => session))]
      .filter((id) => id !== 0n)
      .slice(0, MOST);
    if (sessions.length === this.#wanted.length && sessions.every((id, at) => id === this.#wanted[at]))
      return;
    this.#wanted = sessions;
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
      this.#known = await readSessionLiveness(this.#context, this.#wanted, limit);
      this.#onChange();
    } catch {
      // The request timed out or was stopped. The known states stay; the status line shows whether etcd answers.
    } finally {
      this.#isAsking = false;
      this.#schedulePoll(EVERY);
    }
  }
}
