import type { Clock } from "../base/clock.ts";
import { type AttemptOptions, type Member, MemberError } from "./member.ts";
import { StoreError } from "./store.ts";

export type Attempt<T> = (member: Member, options: AttemptOptions) => Promise<T>;

/** In milliseconds. */
export interface Timeouts {
  /** An attempt that has no answer after this has failed. Default 2,000. */
  attempt: number;
  /** After this without an answer a second attempt starts elsewhere, beside the first. Default 600. */
  hedge: number;
  /** A call that has no answer after this has failed, whatever may still be tried. Default 6,000. */
  total: number;
  /** A quiet watch is asked for a sign of life this often. Default 10,000. */
  probe: number;
}

/** What the calls of one store share. */
export interface Pool {
  readonly members: readonly Member[];
  readonly clock: Clock;
  readonly timeouts: Timeouts;
  /** Index of the member that calls start with. */
  preferred: number;
  /** Told which member let a call wait in vain: what else hangs on it is not to be trusted. */
  onSuspect(member: Member): void;
}

interface Flight {
  member: Member;
  control: AbortController;
  startedAt: number;
}

const BACKOFF_MS = [0, 50, 100, 200, 400];

/** One call, tried on one member after the other, on several at once where one lets us wait. Settles once. */
export class FailoverCall<T> {
  readonly #pool: Pool;
  readonly #attempt: Attempt<T>;
  readonly #discard: (late: T) => void;
  readonly #outcome = Promise.withResolvers<T>();
  /** Ends every timer of the call. */
  readonly #timers = new AbortController();
  readonly #flights = new Set<Flight>();
  readonly #tried = new Set<Member>();
  readonly #hopeless = new Set<Member>();
  readonly #causes = new Map<Member, StoreError>();
  #failures = 0;
  #settled = false;

  constructor(pool: Pool, attempt: Attempt<T>, discard: (late: T) => void = () => {}) {
    this.#pool = pool;
    this.#attempt = attempt;
    this.#discard = discard;
  }

  start(): Promise<T> {
    this.#after(this.#pool.timeouts.total, () => this.giveUp());
    this.#launch();
    return this.#outcome.promise;
  }

  abort(reason: unknown): void {
    this.#settle(() => this.#outcome.reject(reason));
  }

  #launch(): void {
    const member = this.#choose();
    if (this.#settled || member === undefined) return;
    const { clock, timeouts } = this.#pool;
    const flight = { member, control: new AbortController(), startedAt: clock.now() };
    const fresh = this.#tried.has(member);
    this.#flights.add(flight);
    this.#tried.add(member);
    this.#after(timeouts.hedge, () => this.#hedge(flight));
    this.#after(timeouts.attempt, () => this.#expire(flight));
    this.#attempt(member, { signal: flight.control.signal, fresh }).then(
      (value) => this.#succeed(flight, value),
      (error) => this.#fail(flight, error),
    );
  }

  /** The next member from the preferred one on, those that are not being tried first. */
  #choose(): Member | undefined {
    const { members, preferred } = this.#pool;
    const usable = members
      .map((_, i) => members[(preferred + this.#failures + i) % members.length])
      .filter((member): member is Member => member !== undefined && !this.#hopeless.has(member));
    const busy = new Set([...this.#flights].map((flight) => flight.member));
    return usable.find((member) => !busy.has(member)) ?? usable[0];
  }

  #hedge(flight: Flight): void {
    const most = Math.max(2, this.#pool.members.length);
    if (this.#flights.has(flight) && this.#flights.size < most) this.#launch();
  }

  #expire(flight: Flight): void {
    if (!this.#flights.has(flight)) return;
    this.#pool.onSuspect(flight.member);
    const text = `${flight.member.endpoint}: no answer within ${this.#pool.timeouts.attempt} ms`;
    this.#fail(flight, new MemberError("unavailable", "retry", text));
  }

  #succeed(flight: Flight, value: T): void {
    if (this.#settled || !this.#flights.delete(flight)) {
      this.#discard(value);
      return;
    }
    const pool = this.#pool;
    pool.preferred = pool.members.indexOf(flight.member);
    const overdue = pool.clock.now() - pool.timeouts.hedge;
    const slow = [...this.#flights].filter((other) => other.startedAt <= overdue);
    this.#settle(() => this.#outcome.resolve(value));
    for (const { member } of slow) if (member !== flight.member) pool.onSuspect(member);
  }

  #fail(flight: Flight, error: unknown): void {
    if (this.#settled || !this.#flights.delete(flight)) return;
    flight.control.abort(error);
    if (!(error instanceof MemberError) || error.advice === "final" || error.advice === "relogin") {
      this.#settle(() => this.#outcome.reject(error));
      return;
    }
    this.#causes.set(flight.member, error);
    if (error.advice === "elsewhere") this.#hopeless.add(flight.member);
    this.#failures += 1;
    const usable = this.#pool.members.length - this.#hopeless.size;
    if (usable > 0) this.#again(usable);
    else if (this.#flights.size === 0) this.giveUp();
  }

  /** The other members at once; a further round only after a pause. */
  #again(usable: number): void {
    const round = Math.floor(this.#failures / usable);
    const pause = this.#failures % usable === 0 ? (BACKOFF_MS[round - 1] ?? 400) : 0;
    if (pause === 0) this.#launch();
    else this.#after(pause, () => this.#launch());
  }

  /** Fails the call with what every member said, or did not say, so far. */
  giveUp(): void {
    const causes = [...this.#causes.values()];
    for (const { member } of this.#flights) {
      causes.push(new MemberError("unavailable", "retry", `${member.endpoint}: no answer yet`));
    }
    const [first] = causes;
    const kind = first && causes.every((cause) => cause.kind === first.kind) ? first.kind : "unavailable";
    const text = [...new Set(causes.map((cause) => cause.message))].join("; ");
    const error = new StoreError(kind, text, { cause: new AggregateError(causes) });
    this.#settle(() => this.#outcome.reject(error));
  }

  #settle(tell: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    tell();
    this.#timers.abort();
    for (const { control } of this.#flights)
      control.abort(new StoreError("unavailable", "another attempt was faster"));
    this.#flights.clear();
  }

  #after(ms: number, act: () => void): void {
    this.#pool.clock.sleep(ms, this.#timers.signal).then(
      () => {
        if (!this.#settled) act();
      },
      () => {}, // the call has settled
    );
  }
}
