import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { clean } from "../../base/text.ts";
import type { Hook, HookName } from "../../schedule/definition.ts";
import type { WorkerEvent, WorkerListener } from "../schedule/events.ts";
import { type AttemptPorts, callHook, hookText } from "./hook-attempt.ts";
import { HookQueue } from "./hook-queue.ts";
import { type HookWord, LATE_AFTER, wordsOf } from "./hook-word.ts";
import type { HookResult } from "./metrics.ts";
import { Sparing } from "./sparing.ts";

export type WorkerHooks = Readonly<Partial<Record<HookName, Hook>>>;

export interface HookPorts extends AttemptPorts {
  log: Log;
  /** Full name of the worker's host. */
  host: string;
}

export interface HookOptions {
  /** The worker's own, called for every schedule beside those that it has itself. */
  hooks?: WorkerHooks | undefined;
  /** From when on a start is late, ms. Default a minute. */
  lateAfter?: number | undefined;
  /** Told how each call came out. */
  onResult?(result: HookResult): void;
  /** ms of one attempt. Default 10 s. */
  within?: number;
}

/** ms. */
const WITHIN = 10_000;
/** For commands of hooks to end in, when the worker does, ms. */
const LAST_WAIT = 5_000;
/** The worker's hooks and those of schedules have as much each, so that neither keeps the others waiting. */
const LIMITS = { running: 8, lane: 20, all: 1_000 };

/** Hooks of a worker and of the schedules that it runs. */
export function hooksOf(ports: HookPorts, options: HookOptions = {}): Hooks {
  return new Hooks(ports, options);
}

/**
 * Calls hooks for what a worker tells. Never throws, never waits: a hook that hangs or fails costs itself its turn, and a line
 * in the log. Those of one schedule are called one after the other, so that a `success` comes after its `start`.
 */
export class Hooks {
  readonly listener: WorkerListener = (event) => this.#hear(event);
  readonly #ports: HookPorts;
  readonly #options: HookOptions;
  readonly #log: Sparing;
  readonly #ofSchedules = new HookQueue(LIMITS);
  readonly #ofWorker = new HookQueue(LIMITS);
  readonly #stop = new AbortController();
  #hooks: WorkerHooks;
  #isOpen = true;

  constructor(ports: HookPorts, options: HookOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#log = new Sparing(ports.log, ports.clock);
    this.#hooks = options.hooks ?? {};
  }

  /** Puts others in the place of the worker's own. */
  replace(hooks: WorkerHooks): void {
    this.#hooks = hooks;
  }

  /**
   * Takes nothing more, and waits for what was taken.
   * @param most  ms after which the rest is given up
   */
  async close(most = WITHIN): Promise<void> {
    this.#isOpen = false;
    const idle = Promise.all([this.#ofSchedules.idle(), this.#ofWorker.idle()]);
    await waitFor(this.#ports.clock, idle, most);
    this.#stop.abort(new Error("the worker ended first"));
    await waitFor(this.#ports.clock, idle, LAST_WAIT);
  }

  #hear(event: WorkerEvent): void {
    if (!this.#isOpen || !("definition" in event)) return;
    for (const word of wordsOf(event, this.#ports.host, this.#options.lateAfter ?? LATE_AFTER)) {
      this.#offer(this.#ofSchedules, event.definition.hooks?.[word.event], word);
      this.#offer(this.#ofWorker, this.#hooks[word.event], word);
    }
  }

  #offer(queue: HookQueue, hook: Hook | undefined, word: HookWord): void {
    if (hook === undefined || queue.add(word.schedule, () => this.#call(hook, word))) return;
    this.#options.onResult?.("dropped");
    this.#log.warn("a hook was left out: too many wait", { schedule: word.schedule, event: word.event });
  }

  async #call(hook: Hook, word: HookWord): Promise<void> {
    const limits = { within: this.#options.within ?? WITHIN, signal: this.#stop.signal };
    const error = await callHook(this.#ports, hook, word, limits);
    this.#options.onResult?.(error === undefined ? "ok" : "failed");
    if (error === undefined) return;
    const { schedule, event } = word;
    this.#log.warn("a hook failed", { schedule, event, hook: hookText(hook), error: clean(error) });
  }
}

/** Waits for something, but only so long, ms. */
async function waitFor(clock: Clock, something: Promise<unknown>, most: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([something, clock.sleep(most, over.signal).catch(() => {})]);
  over.abort();
}
