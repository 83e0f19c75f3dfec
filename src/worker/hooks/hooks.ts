import { type Millis, waitAtMost } from "../../core/base/clock.ts";
import { generateRunId } from "../../core/base/ids.ts";
import { clean } from "../../core/base/text.ts";
import type { TraceContext } from "../../core/base/trace.ts";
import {
  type Hook,
  type HookName,
  type HookPermission,
  isHookPermitted,
} from "../../schedule/definition-values.ts";
import type { WorkerEvent, WorkerListener } from "../events.ts";
import type { HookResult } from "../metrics/metrics.ts";
import { createRateLimitedLog, type WarningLog } from "../rate-limited-log.ts";
import { createTaskTrace } from "../task-trace.ts";
import { callHook, formatHook, type HookPorts } from "./call-hook.ts";
import { buildHookPayloads, LATE_AFTER, type SchedulePayload } from "./hook-payload.ts";

/** Limits of each queue: jobs that run at once, and waiting jobs, in one lane and in all lanes. */
const MOST_RUNNING = 8;
const MOST_IN_LANE = 20;
const MOST_WAITING = 1_000;

type HookJob = () => Promise<void>;

interface HookQueue {
  /** @param job  must never reject. @returns false when the queue is full */
  add(lane: string, job: HookJob): boolean;
  /** Resolves when nothing runs or waits. */
  waitUntilIdle(): Promise<void>;
}

/** Creates a queue that runs jobs: those in one lane one after the other, in order. It rejects jobs above the limits. */
function createHookQueue(): HookQueue {
  /** Waiting jobs by lane. A lane with a running job is also in the map. */
  const lanes = new Map<string, HookJob[]>();
  /** Lanes with waiting jobs and no running job, in order. */
  const ready: string[] = [];
  let [waiting, running] = [0, 0];
  let idle = Promise.withResolvers<void>();
  idle.resolve();
  const isIdle = () => running === 0 && waiting === 0;

  const fill = () => {
    while (running < MOST_RUNNING) {
      const lane = ready.shift();
      if (lane === undefined) return;
      const job = lanes.get(lane)?.shift();
      if (job === undefined) continue;
      waiting -= 1;
      running += 1;
      void job().finally(() => finishJob(lane));
    }
  };

  const finishJob = (lane: string) => {
    running -= 1;
    if (lanes.get(lane)?.length === 0) lanes.delete(lane);
    else ready.push(lane);
    fill();
    if (isIdle()) idle.resolve();
  };

  return {
    add(lane, job) {
      const jobs = lanes.get(lane);
      if (waiting >= MOST_WAITING || (jobs?.length ?? 0) >= MOST_IN_LANE) return false;
      if (isIdle()) idle = Promise.withResolvers<void>();
      waiting += 1;
      if (jobs !== undefined) jobs.push(job);
      else {
        lanes.set(lane, [job]);
        ready.push(lane);
      }
      fill();
      return true;
    },
    waitUntilIdle: () => idle.promise,
  };
}

type WorkerHooks = Readonly<Partial<Record<HookName, Hook>>>;

export interface HookOptions {
  /** The worker's own hooks. They are called for every schedule, in addition to the hooks of the schedule. */
  hooks?: WorkerHooks | undefined;
  /** Which hooks of schedules to call. Default: those with an address. */
  permission?: HookPermission | undefined;
  /** How late a start must be to count as late. Default: one minute. */
  lateAfter?: Millis | undefined;
  /** Called with the result of each call. */
  onResult?(result: HookResult): void;
  /** Limit of one attempt. Default: 10 s. */
  within?: Millis;
}

const DEFAULT_ATTEMPT_TIMEOUT_MS = 10_000;
/** How long to wait for commands of hooks to end when the worker ends, ms. */
const LAST_WAIT = 5_000;

/**
 * Calls hooks for worker events. Never throws and never waits: a hook that hangs or fails only loses its call and
 * causes a log line. Hooks of one schedule run one after the other, so `success` follows `start`.
 */
export class Hooks {
  readonly handleEvent: WorkerListener = (event) => this.#dispatch(event);
  readonly #ports: HookPorts;
  readonly #options: HookOptions;
  readonly #warn: WarningLog;
  // The worker's hooks and the schedules' hooks do not delay each other.
  readonly #scheduleQueue = createHookQueue();
  readonly #workerQueue = createHookQueue();
  readonly #stop = new AbortController();
  #hooks: WorkerHooks;
  #permission: HookPermission;
  #isOpen = true;

  constructor(ports: HookPorts, options: HookOptions = {}) {
    this.#ports = ports;
    this.#options = options;
    this.#warn = createRateLimitedLog(ports.log, ports.clock);
    this.#hooks = options.hooks ?? {};
    this.#permission = options.permission ?? "addresses";
  }

  /** Replaces the worker's own hooks, and which hooks of schedules it calls. */
  replace(hooks: WorkerHooks, permission = this.#permission): void {
    this.#hooks = hooks;
    this.#permission = permission;
  }

  /**
   * Accepts no more events, and waits for queued calls.
   * @param most  ms after which the remaining calls are aborted
   */
  async close(most = DEFAULT_ATTEMPT_TIMEOUT_MS): Promise<void> {
    this.#isOpen = false;
    const idle = Promise.all([this.#scheduleQueue.waitUntilIdle(), this.#workerQueue.waitUntilIdle()]);
    await waitAtMost(this.#ports.clock, most, idle);
    this.#stop.abort(new Error("the worker ended first"));
    await waitAtMost(this.#ports.clock, LAST_WAIT, idle);
  }

  #dispatch(event: WorkerEvent): void {
    if (!this.#isOpen || !("definition" in event)) return;
    const { definition } = event;
    if (definition.hooks === undefined && Object.keys(this.#hooks).length === 0) return;
    for (const payload of buildHookPayloads(event, this.#ports.host, this.#options.lateAfter ?? LATE_AFTER)) {
      const { run = generateRunId(this.#ports.random) } = payload;
      const trace = createTaskTrace({ run, definition });
      const own = definition.hooks?.[payload.event];
      if (own === undefined || isHookPermitted(own, this.#permission))
        this.#enqueue(this.#scheduleQueue, own, payload, trace);
      else this.#refuse(payload);
      this.#enqueue(this.#workerQueue, this.#hooks[payload.event], payload, trace);
    }
  }

  #refuse({ schedule, event }: SchedulePayload): void {
    if (this.#permission === "none") return; // in a test
    this.#options.onResult?.("refused");
    this.#warn("a hook was not called: it is a command, and this worker runs no commands of schedules", {
      schedule,
      event,
    });
  }

  #enqueue(queue: HookQueue, hook: Hook | undefined, payload: SchedulePayload, trace: TraceContext): void {
    if (hook === undefined || queue.add(payload.schedule, () => this.#call(hook, payload, trace))) return;
    this.#options.onResult?.("dropped");
    this.#warn("a hook was skipped: too many are waiting", {
      schedule: payload.schedule,
      event: payload.event,
    });
  }

  async #call(hook: Hook, payload: SchedulePayload, trace: TraceContext): Promise<void> {
    const limits = {
      within: this.#options.within ?? DEFAULT_ATTEMPT_TIMEOUT_MS,
      signal: this.#stop.signal,
      trace,
    };
    const error = await callHook(this.#ports, hook, payload, limits);
    this.#options.onResult?.(error === undefined ? "ok" : "failed");
    if (error === undefined) return;
    const { schedule, event } = payload;
    this.#warn("a hook failed", { schedule, event, hook: formatHook(hook), error: clean(error) });
  }
}
