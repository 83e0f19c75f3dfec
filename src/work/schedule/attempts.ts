import { isUnavailable } from "../../etcd/persist.ts";
import { typeOf } from "../../schedule/definition.ts";
import type { Candidate } from "../../schedule/prospect.ts";
import { type Attempt, type ClaimContext, type Claimed, claim } from "./claim.ts";
import type { Entry } from "./entry.ts";
import type { WorkerListener } from "./events.ts";
import type { Handler } from "./handler.ts";
import { seed } from "./seed.ts";

/** What is tried, for whom, and in which turn: 0 where this worker is first for it. */
export interface Try {
  entry: Entry;
  handler: Handler;
  /** Undefined: the schedule has no state yet, and gets one. */
  candidate: Candidate | undefined;
  rank: number;
}

/** Claims on their way of what others are first for: under load they are about to take it, and every miss costs etcd a write. */
const MOST_HELPING = 4;
/** After an attempt that others were faster than, ms; mostly their change comes first. */
const AFTER_MISS = 250;
/** After one that etcd did not answer or refused, ms. */
const AFTER_FAILURE = 1_000;

/** Claims on their way: one a schedule at most. */
export class Attempts {
  readonly #context: ClaimContext;
  readonly #listener: WorkerListener;
  readonly #start: (claimed: Claimed, handler: Handler) => void;
  readonly #under = new Set<string>();
  #helping = 0;

  /** @param start  runs what was claimed */
  constructor(
    context: ClaimContext,
    listener: WorkerListener,
    start: (claimed: Claimed, handler: Handler) => void,
  ) {
    this.#context = context;
    this.#listener = listener;
    this.#start = start;
  }

  get size(): number {
    return this.#under.size;
  }

  has(id: string): boolean {
    return this.#under.has(id);
  }

  /** Whether there is room to try what others are first for. */
  get mayHelp(): boolean {
    return this.#helping < MOST_HELPING;
  }

  /** @returns when to look at the schedule again at the earliest, wall clock, ms; undefined: whenever. Rejects never */
  async make(one: Try): Promise<number | undefined> {
    const { id } = one.entry;
    const helps = one.rank > 0 ? 1 : 0;
    this.#under.add(id);
    this.#helping += helps;
    try {
      return await this.#make(one);
    } catch (error) {
      this.#failed(id, error);
      return this.#context.ports.clock.wall() + AFTER_FAILURE;
    } finally {
      this.#under.delete(id);
      this.#helping -= helps;
    }
  }

  async #make({ entry, handler, candidate }: Try): Promise<number | undefined> {
    if (candidate === undefined) {
      await seed(this.#context.ports, entry);
      return undefined;
    }
    const attempt = await claim(this.#context, entry, candidate);
    if (attempt.kind === "missed") return this.#context.ports.clock.wall() + AFTER_MISS;
    this.#tell(entry, attempt);
    if (attempt.kind === "claimed") this.#start(attempt.claimed, handler);
    return undefined;
  }

  /** What was skipped, replaced or given up along with it. */
  #tell({ id, definition }: Entry, { outcomes }: Exclude<Attempt, { kind: "missed" }>): void {
    if (definition === undefined) return;
    const about = { id, type: typeOf(id, definition), definition };
    for (const outcome of outcomes) {
      if (outcome.result === "skipped") this.#listener({ kind: "skipped", ...about, outcome });
      else this.#listener({ kind: "ended", ...about, outcome, isDead: outcome.result === "lost" });
    }
  }

  #failed(schedule: string, error: unknown): void {
    if (this.#context.presence.session.signal.aborted) return;
    const level = isUnavailable(error) ? "warn" : "error";
    this.#context.ports.log[level]("a claim failed", { schedule, error: String(error) });
  }
}
