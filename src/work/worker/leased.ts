import { EXIT, SignalboxError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { StoreError } from "../../etcd/store.ts";
import { type LeaseSpec, parseLeases } from "../../fleet/lease-spec.ts";
import type { Macros } from "../../fleet/macros.ts";
import { type Handler, type Task, TaskLost, type Verdict } from "../schedule/handler.ts";
import { lost } from "./command-handler.ts";

/** Leases that this process holds, as the claims of runs. */
export interface HeldLeases {
  /** Aborted with an Error when they are lost, or soon may be. */
  readonly signal: AbortSignal;
  /** Instant on the clock's `now()`, ms. */
  horizon(): number;
  onExtended(listener: () => void): () => void;
  release(): Promise<void>;
}

/** How leases are got. */
export interface Lessor {
  macros: Macros;
  log: Log;
  /**
   * @param label  a word that the holder is shown with
   * @throws SignalboxError 75 when they were not granted in time, StoreError, the signal's reason
   */
  acquire(leases: readonly LeaseSpec[], label: string, signal: AbortSignal): Promise<HeldLeases>;
}

/** Before a task that got no leases is started again, ms. */
const AGAIN_AFTER = 30_000;

/** Runs tasks while it holds the leases of their definition as well: what must not outlive these ends with them. */
export class LeasedHandler implements Handler {
  readonly #lessor: Lessor;
  readonly #inner: Handler;
  readonly #count: (units: number) => void;

  /** @param count  told the units that are held more, and less */
  constructor(lessor: Lessor, inner: Handler, count: (units: number) => void = () => {}) {
    this.#lessor = lessor;
    this.#inner = inner;
    this.#count = count;
  }

  async run(task: Task): Promise<Verdict> {
    let leases: readonly LeaseSpec[];
    let held: HeldLeases;
    try {
      leases = parseLeases(task.definition.leases ?? [], this.#lessor.macros);
      held = await this.#lessor.acquire(leases, `schedule ${task.id}`, task.signal);
    } catch (error) {
      return task.signal.aborted ? lost(task.signal.reason) : ungranted(error);
    }
    const units = leases.reduce((sum, { count }) => sum + count, 0);
    this.#count(units);
    try {
      return await this.#inner.run(joined(task, held));
    } finally {
      this.#count(-units);
      await held.release().catch((error) => {
        this.#lessor.log.warn("leases are left to expire", { schedule: task.id, error: String(error) });
      });
    }
  }
}

/** A task whose deadlines are those of whichever ends first. */
function joined(task: Task, held: HeldLeases): Task {
  const ending = new AbortController();
  const end = () => ending.abort(new TaskLost("lost", (held.signal.reason as Error).message));
  if (held.signal.aborted) end();
  held.signal.addEventListener("abort", end, { once: true });
  return {
    ...task,
    signal: AbortSignal.any([task.signal, ending.signal]),
    horizon: () => Math.min(task.horizon(), held.horizon()),
    onExtended(listener) {
      const stops = [task.onExtended(listener), held.onExtended(listener)];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

function ungranted(error: unknown): Verdict {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof SignalboxError && error.exitCode !== EXIT.busy) return { result: "failed", reason };
  if (error instanceof SignalboxError || error instanceof StoreError)
    return { result: "retry", wait: AGAIN_AFTER, reason };
  return { result: "failed", reason };
}
