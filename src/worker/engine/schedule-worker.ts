import { combineTransactions } from "../../etcd/combined/combined-store.ts";
import { isUnavailable } from "../../etcd/retry.ts";
import { StoreError } from "../../etcd/store.ts";
import type { WorkerListener } from "../events.ts";
import type { HandlerRegistry } from "../handler.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import { WorkerSession, type WorkerSessionOptions } from "./worker-session.ts";

/** Options of a worker. Durations in ms. */
export interface ScheduleWorkerOptions extends Omit<WorkerSessionOptions, "handlers" | "listener"> {
  handlers: HandlerRegistry;
  listener?: WorkerListener;
  /** Called before each session. An error ends the worker. */
  checkEtcd?: (signal: AbortSignal) => Promise<void>;
}

/** Pause between two sessions, ms; doubled up to the longest while etcd is unreachable. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5_000;

/**
 * A worker: claims due occurrences, runs them with its handlers, and stores the results. If its session is lost, all
 * tasks of that session end, and the worker joins again with a new session.
 */
export class ScheduleWorker {
  readonly #ports: SchedulePorts;
  readonly #options: WorkerSessionOptions & Pick<ScheduleWorkerOptions, "checkEtcd">;
  readonly #stop = new AbortController();
  #session: WorkerSession | undefined;
  #isDraining = false;

  constructor(ports: SchedulePorts, options: ScheduleWorkerOptions) {
    const { store, clock, keys, runSoon } = ports;
    this.#ports = { ...ports, store: combineTransactions(store, clock, keys, runSoon) };
    this.#options = { ...options, listener: catchListenerErrors(options.listener, ports) };
  }

  /** Number of running tasks. */
  get running(): number {
    return this.#session?.running ?? 0;
  }

  /** Id in the worker record; undefined while the worker has no session. */
  get id(): string | undefined {
    return this.#session?.id;
  }

  /**
   * Runs the worker until it is stopped and its tasks have ended.
   * @param signal also ends the tasks; they are given back, and other workers can claim them at once
   * @throws StoreError when etcd refuses for good, or cannot be reached at the start
   */
  async run(signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, this.#stop.signal]);
    let wasThere = false;
    for (let pause = FIRST_PAUSE; !either.aborted && !this.#isDraining; ) {
      const since = this.#ports.clock.now();
      try {
        await this.#runSession(either);
        wasThere = true;
      } catch (error) {
        if (either.aborted) break;
        if (!isTransient(error) || (!wasThere && this.#session === undefined)) throw error;
        this.#ports.log.warn("the worker has no session", { error: String(error) });
      }
      wasThere ||= this.#session !== undefined;
      this.#session = undefined;
      if (this.#ports.clock.now() - since > LONGEST_PAUSE) pause = FIRST_PAUSE;
      const wait = pause * (0.5 + this.#ports.random.generateFraction() / 2);
      await this.#ports.clock.sleep(wait, either).catch(() => {});
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
  }

  /** Stops claiming. `run` returns when the running tasks have ended. */
  drain(): void {
    this.#isDraining = true;
    if (this.#session === undefined) this.#stop.abort();
    else this.#session.drain();
  }

  /** Replaces the handlers. Running tasks keep their handlers. */
  reload(handlers: HandlerRegistry, concurrency = this.#options.concurrency): void {
    Object.assign(this.#options, { handlers, concurrency });
    this.#session?.handleReload();
  }

  async #runSession(signal: AbortSignal): Promise<void> {
    await this.#options.checkEtcd?.(signal);
    const session = await WorkerSession.start(this.#ports, this.#options, signal);
    this.#session = session;
    if (this.#isDraining) session.drain();
    await session.end;
  }
}

/**
 * Returns whether a new session may help: etcd does not answer, or was so slow that the session expired before its
 * first use.
 */
function isTransient(error: unknown): boolean {
  return isUnavailable(error) || (error instanceof StoreError && error.kind === "noSession");
}

/** Catches errors of the listener. An error would leave a claimed occurrence without its run. */
function catchListenerErrors(listener: WorkerListener = () => {}, { log }: SchedulePorts): WorkerListener {
  return (event) => {
    try {
      listener(event);
    } catch (error) {
      log.error("a listener failed", { event: event.kind, error: String(error) });
    }
  };
}
