import { only, sightOf } from "../../commands/sight.ts";
import type { Desk } from "../../commands/with-store.ts";
import type { Picture } from "../../model/picture.ts";

/** After a move of the cursor it is waited a little, ms, for it may move on; what failed is tried again after this long. */
const SETTLE = 120;
const AGAIN = 2_000;

/**
 * What the schedule in sight remembers of its runs. That is too much to be read of all of them: it is read of one, and again
 * when one of its runs has ended.
 */
export class Recalled {
  readonly #desk: Desk;
  readonly #onChange: () => void;
  readonly #stop = new AbortController();
  #wanted: { id: string; due: unknown } | undefined;
  #known: Picture["outcomes"] = new Map();
  #timer: NodeJS.Timeout | undefined;

  constructor(desk: Desk, onChange: () => void) {
    this.#desk = desk;
    this.#onChange = onChange;
  }

  /** Memories by schedule: of one at most. The same map until it is read again. */
  get known(): Picture["outcomes"] {
    return this.#known;
  }

  /** Says which schedule is looked at from now on. */
  want(id: string | undefined, { dues }: Picture): void {
    const wanted = id === undefined ? undefined : { id, due: dues.get(id) };
    if (wanted?.id === this.#wanted?.id && wanted?.due === this.#wanted?.due) return;
    this.#wanted = wanted;
    this.#after(SETTLE);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stop.abort(new Error("nobody looks any more"));
  }

  #after(pause: number): void {
    clearTimeout(this.#timer);
    if (this.#wanted !== undefined && !this.#stop.signal.aborted)
      this.#timer = setTimeout(() => void this.#ask(), pause);
  }

  async #ask(): Promise<void> {
    const wanted = this.#wanted;
    if (wanted === undefined) return;
    try {
      const { outcomes } = await sightOf(this.#desk, [], [only(this.#desk.keys.outcomes(wanted.id))]);
      if (this.#stop.signal.aborted || this.#wanted !== wanted) return;
      this.#known = outcomes;
      this.#onChange();
    } catch {
      // nobody looks any more, or etcd is away, which is shown elsewhere
      if (this.#wanted === wanted) this.#after(AGAIN);
    }
  }
}
