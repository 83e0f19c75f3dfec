import type { Random } from "../../base/random.ts";
import { isUnavailable } from "../../etcd/persist.ts";
import { StoreError } from "../../etcd/store.ts";
import type { WorkerListener } from "./events.ts";
import type { Handlers } from "./handler.ts";
import { Life, type LifeOptions } from "./life.ts";
import type { SchedulePorts } from "./ports.ts";

/** How a worker works. Durations in ms. */
export interface EngineOptions extends Omit<LifeOptions, "handlers" | "listener"> {
  handlers: Handlers;
  listener?: WorkerListener;
}

/** Between two lives, ms: doubled up to the longest while etcd stays away. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5_000;

/**
 * A worker: takes what is due, runs it by its handlers, and settles it. Lives as often as it needs a session: one that was
 * lost ends every task on it, and the worker joins anew.
 */
export class Engine {
  readonly #ports: SchedulePorts;
  readonly #options: LifeOptions;
  readonly #stop = new AbortController();
  #life: Life | undefined;
  #isDraining = false;

  constructor(ports: SchedulePorts, options: EngineOptions) {
    this.#ports = ports;
    this.#options = { ...options, listener: harmless(options.listener, ports) };
  }

  /** How many tasks run now. */
  get running(): number {
    return this.#life?.running ?? 0;
  }

  /** The id that others know the worker by; undefined while it has no session. */
  get id(): string | undefined {
    return this.#life?.id;
  }

  /**
   * Works until it is told to stop, and its tasks have ended.
   * @param signal  ends the tasks as well; they are given back, for others to take at once
   * @throws StoreError when etcd refuses for good, or cannot be reached at the start
   */
  async run(signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, this.#stop.signal]);
    let wasThere = false;
    for (let pause = FIRST_PAUSE; !either.aborted && !this.#isDraining; ) {
      const since = this.#ports.clock.now();
      try {
        await this.#live(either);
        wasThere = true;
      } catch (error) {
        if (either.aborted) break;
        if (!isPassing(error) || (!wasThere && this.#life === undefined)) throw error;
        this.#ports.log.warn("the worker has no session", { error: String(error) });
      }
      wasThere ||= this.#life !== undefined;
      this.#life = undefined;
      if (this.#ports.clock.now() - since > LONGEST_PAUSE) pause = FIRST_PAUSE;
      await this.#ports.clock.sleep(jittered(pause, this.#ports.random), either).catch(() => {});
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
  }

  /** Takes nothing more; `run` returns when what runs has ended. */
  drain(): void {
    this.#isDraining = true;
    if (this.#life === undefined) this.#stop.abort();
    else this.#life.drain();
  }

  /** Other handlers from now on; what runs goes on with those it has. */
  reload(handlers: Handlers, concurrency = this.#options.concurrency): void {
    Object.assign(this.#options, { handlers, concurrency });
    this.#life?.reloaded();
  }

  async #live(signal: AbortSignal): Promise<void> {
    const life = await Life.begin(this.#ports, this.#options, signal);
    this.#life = life;
    if (this.#isDraining) life.drain();
    await life.end;
  }
}

/** Whether another session may do better: etcd does not answer, or was so slow that the session was gone before its first use. */
function isPassing(error: unknown): boolean {
  return isUnavailable(error) || (error instanceof StoreError && error.kind === "noSession");
}

/** One that throws would leave what was claimed without its run. */
function harmless(listener: WorkerListener = () => {}, { log }: SchedulePorts): WorkerListener {
  return (event) => {
    try {
      listener(event);
    } catch (error) {
      log.error("a listener failed", { event: event.kind, error: String(error) });
    }
  };
}

function jittered(ms: number, random: Random): number {
  return ms * (0.5 + random.unit() / 2);
}
