import type { Candidate } from "../../schedule/prospect.ts";
import { Agenda } from "./agenda.ts";
import { Attempts, type Try } from "./attempts.ts";
import { candidateOf } from "./candidate.ts";
import type { ClaimContext, Claimed } from "./claim.ts";
import { Crew } from "./crew.ts";
import { Eligibility } from "./eligible.ts";
import type { Entry } from "./entry.ts";
import type { WorkerListener } from "./events.ts";
import type { Handler, Handlers, TaskLost } from "./handler.ts";
import { KnownTypes } from "./known-types.ts";
import { STAGGER, turnOf } from "./turn.ts";
import { Wake } from "./wake.ts";

export interface DispatchOptions {
  handlers: Handlers;
  /** Tasks that may run at a time. */
  concurrency: number;
  /** What a task gets to end itself before the session may have expired, ms. */
  terminationTimeout: number;
  listener: WorkerListener;
}

/** The longest sleep, ms: wall clocks are set, and drains end by themselves. */
const LONGEST_SLEEP = 1_000;
/** Until there may be room to try what others are first for, ms. */
const HELP_LATER = 50;

/** Takes what is due, in the order in which it became due, as long as there is room. */
export class Dispatcher {
  readonly #context: ClaimContext;
  readonly #options: DispatchOptions;
  readonly #crew: Crew;
  readonly #agenda = new Agenda();
  readonly #eligible: Eligibility;
  readonly #attempts: Attempts;
  readonly #types: KnownTypes;
  readonly #done = Promise.withResolvers<void>();
  readonly #wake: Wake;
  #state: "reading" | "listening" | "open" | "closed" = "reading";
  readonly #mayFire: () => boolean;
  #drain: string | undefined;
  #latest = Number.NEGATIVE_INFINITY;
  #stopReason: (() => TaskLost) | undefined;

  /** @param mayFire  whether the clock can be trusted now */
  constructor(context: ClaimContext, options: DispatchOptions, mayFire: () => boolean) {
    this.#context = context;
    this.#options = options;
    this.#mayFire = mayFire;
    this.#wake = new Wake(context.ports.clock);
    this.#eligible = new Eligibility(context.book, context.host);
    this.#types = new KnownTypes(options, options.listener, context.ports);
    this.#crew = new Crew(context, options.listener, () => this.#crewChanged());
    this.#attempts = new Attempts(context, options.listener, (...claimed) => this.#start(...claimed));
  }

  get running(): number {
    return this.#crew.size;
  }

  /** Resolves when it was closed and nothing runs any more. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** From now on things are taken. */
  open(): void {
    if (this.#state === "closed") return;
    this.#state = "open";
    this.lookAgain();
  }

  /** From now on nothing is taken. */
  close(): void {
    this.#state = "closed";
    this.#crewChanged();
  }

  lookAgain(): void {
    this.#wake.call();
  }

  /** Everything was read. @returns whether for the first time */
  readAnew(): boolean {
    const isFirst = this.#state === "reading";
    if (isFirst) this.#state = "listening";
    this.#eligible.forget();
    this.#planAll();
    return isFirst;
  }

  /** Workers are others now: who is first is asked when something is due. */
  workersChanged(): void {
    this.#eligible.forget();
  }

  /** Groups, drains or handlers are others now: what was passed over may be taken. */
  rulesChanged(): void {
    this.#eligible.forget();
    this.#types.forget();
    if (this.#state !== "reading") this.#planAll();
  }

  #planAll(): void {
    for (const entry of this.#context.book.entries.values()) this.#plan(entry);
    this.lookAgain();
  }

  changed(entry: Entry): void {
    if (this.#state === "reading") return;
    this.#crew.watch(entry, this.#wall());
    this.#plan(entry);
    this.lookAgain();
  }

  /** Ends what runs now; what is taken later runs. */
  endAll(reason: () => TaskLost): void {
    this.#crew.endAll(reason);
  }

  /** Takes nothing more and ends what runs, also what is being claimed. */
  stop(reason: () => TaskLost): void {
    this.#stopReason = reason;
    this.close();
    this.#crew.stop(reason);
  }

  /** Works until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#lookAtClock();
      const replaceAt = this.#crew.replace(this.#wall());
      this.#takeDue();
      this.#wake.reset();
      const at = Math.min(
        this.#mayTake() ? (this.#agenda.next ?? Infinity) : Infinity,
        replaceAt ?? Infinity,
      );
      await this.#wake.within(Math.max(0, Math.min(at - this.#wall(), LONGEST_SLEEP)), signal);
    }
  }

  #wall(): number {
    return this.#context.ports.clock.wall();
  }

  /** What was planned by a clock that has gone back meanwhile would wait until it is there again. */
  #lookAtClock(): void {
    const now = this.#wall();
    if (now < this.#latest) {
      for (const entry of this.#context.book.entries.values())
        entry.freeSince = Math.min(entry.freeSince, now);
      this.#planAll();
    }
    this.#latest = now;
  }

  #mayTake(): boolean {
    const isFull = this.#crew.size + this.#attempts.size >= this.#options.concurrency;
    return this.#state === "open" && !isFull && this.#drain === undefined && this.#mayFire();
  }

  #takeDue(): void {
    this.#lookForDrains();
    const now = this.#wall();
    while (this.#mayTake()) {
      const id = this.#agenda.take(now);
      if (id === undefined) return;
      const entry = this.#context.book.entries.get(id);
      if (entry !== undefined && !this.#attempts.has(id)) this.#consider(entry, now);
    }
  }

  #lookForDrains(): void {
    const drain = this.#eligible.drained(this.#wall());
    if (drain === this.#drain) return;
    this.#drain = drain;
    const { log } = this.#context.ports;
    if (drain === undefined) log.info("no longer drained");
    else log.info("nothing is taken now", { why: drain });
  }

  /** When a schedule is to be looked at, whoever is to take it then. */
  #plan(entry: Entry): void {
    const { id, definition, due } = entry;
    if (this.#attempts.has(id)) return;
    const isSeedless = definition !== undefined && due === undefined && entry.dueMod === 0n;
    // Its state comes by another range of the watch, perhaps a moment later.
    this.#agenda.set(
      id,
      isSeedless ? entry.freeSince + STAGGER : this.#candidate(entry, this.#wall())?.runAt,
    );
  }

  #candidate(entry: Entry, now: number): Candidate | undefined {
    return candidateOf(this.#context.ports.keys, entry, now);
  }

  #consider(entry: Entry, now: number): void {
    const { id, definition, due } = entry;
    if (definition === undefined || !this.#eligible.isFor(definition)) return;
    const handler = this.#types.handler(entry);
    if (handler === undefined) return;
    const candidate = this.#candidate(entry, now);
    if (due !== undefined && candidate === undefined) return;
    const rank = this.#eligible.rank(this.#context.presence.id, entry, now);
    const at = turnOf(entry, rank, candidate?.runAt ?? entry.freeSince, this.#context.ports.random);
    if (at > now) this.#agenda.set(id, at);
    else if (rank === 0 || this.#attempts.mayHelp) void this.#try({ entry, handler, candidate, rank });
    else this.#agenda.set(id, now + HELP_LATER);
  }

  async #try(one: Try): Promise<void> {
    const again = await this.#attempts.make(one);
    const at = this.#candidate(one.entry, this.#wall())?.runAt;
    this.#agenda.set(one.entry.id, at === undefined || again === undefined ? at : Math.max(at, again));
    this.#crewChanged();
  }

  #start(claimed: Claimed, handler: Handler): void {
    this.#crew.start(claimed, handler);
    const entry = this.#context.book.entries.get(claimed.id);
    if (entry !== undefined) this.#crew.watch(entry, this.#wall()); // what came between the claim and now
    if (this.#stopReason !== undefined) this.#crew.endAll(this.#stopReason);
  }

  #crewChanged(): void {
    const { concurrency, listener } = this.#options;
    listener({ kind: "load", running: this.#crew.size, concurrency });
    if (this.#state === "closed" && this.#crew.size === 0 && this.#attempts.size === 0) this.#done.resolve();
    this.lookAgain();
  }
}
