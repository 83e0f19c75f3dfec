import type { Desk } from "../../commands/with-store.ts";
import type { Pulses } from "../../model/explain-text.ts";
import type { Place } from "../../protocol/ticket.ts";
import { type Beat, pulses } from "../../work/observe/pulse.ts";

/** Sessions that are asked; more would take longer than anybody looks. */
const MOST = 30;
/** A session is asked again after this long, ms; after a move of the cursor it is waited a little, for it may move on. */
const EVERY = 2_000;
const SETTLE = 120;

/** How the runners are that are in sight: their sessions are asked as long as somebody looks at them. */
export class Pulser {
  readonly #desk: Desk;
  readonly #onChange: () => void;
  #wanted: readonly bigint[] = [];
  #known: ReadonlyMap<bigint, Beat> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  readonly #stop = new AbortController();

  constructor(desk: Desk, onChange: () => void) {
    this.#desk = desk;
    this.#onChange = onChange;
  }

  get known(): Pulses {
    return this.#known;
  }

  /** Says whose sessions are of interest from now on. */
  want(places: readonly Pick<Place, "session">[]): void {
    const sessions = [...new Set(places.map(({ session }) => session))]
      .filter((id) => id !== 0n)
      .slice(0, MOST);
    if (sessions.length === this.#wanted.length && sessions.every((id, at) => id === this.#wanted[at]))
      return;
    this.#wanted = sessions;
    this.#after(SETTLE);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stop.abort(new Error("nobody looks any more"));
  }

  #after(pause: number): void {
    clearTimeout(this.#timer);
    if (this.#wanted.length > 0 && !this.#stop.signal.aborted)
      this.#timer = setTimeout(() => void this.#ask(), pause);
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return this.#after(SETTLE);
    this.#isAsking = true;
    const limit = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(EVERY)]);
    try {
      this.#known = await pulses(this.#desk, this.#wanted, limit);
      this.#onChange();
    } catch {
      // too late, or nobody looks any more: what is known stays, and whether etcd answers is shown elsewhere
    } finally {
      this.#isAsking = false;
      this.#after(EVERY);
    }
  }
}
