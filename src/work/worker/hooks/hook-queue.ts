/** Limits for waiting and running jobs. */
interface HookQueueLimits {
  /** Jobs that run at once. */
  running: number;
  /** Waiting jobs, in one lane and in all lanes. */
  lane: number;
  all: number;
}

type HookJob = () => Promise<void>;

/** Runs jobs. Jobs in one lane run one after the other, in order. Rejects jobs above the limits. */
export class HookQueue {
  readonly #limits: HookQueueLimits;
  /** Waiting jobs by lane. A lane with a running job is also in the map. */
  readonly #lanes = new Map<string, HookJob[]>();
  /** Lanes with waiting jobs and no running job, in order. */
  readonly #ready: string[] = [];
  #waiting = 0;
  #running = 0;
  #idle = Promise.withResolvers<void>();

  constructor(limits: HookQueueLimits) {
    this.#limits = limits;
    this.#idle.resolve();
  }

  /** @param job  must never reject. @returns false when the queue is full */
  add(lane: string, job: HookJob): boolean {
    const jobs = this.#lanes.get(lane);
    if (this.#waiting >= this.#limits.all || (jobs?.length ?? 0) >= this.#limits.lane) return false;
    if (this.#isIdle()) this.#idle = Promise.withResolvers<void>();
    this.#waiting += 1;
    if (jobs !== undefined) jobs.push(job);
    else {
      this.#lanes.set(lane, [job]);
      this.#ready.push(lane);
    }
    this.#fill();
    return true;
  }

  /** Resolves when nothing runs or waits. */
  waitUntilIdle(): Promise<void> {
    return this.#idle.promise;
  }

  #isIdle(): boolean {
    return this.#running === 0 && this.#waiting === 0;
  }

  #fill(): void {
    while (this.#running < this.#limits.running) {
      const lane = this.#ready.shift();
      if (lane === undefined) return;
      const job = this.#lanes.get(lane)?.shift();
      if (job === undefined) continue;
      this.#waiting -= 1;
      this.#running += 1;
      void job().finally(() => this.#finishJob(lane));
    }
  }

  #finishJob(lane: string): void {
    this.#running -= 1;
    if (this.#lanes.get(lane)?.length === 0) this.#lanes.delete(lane);
    else this.#ready.push(lane);
    this.#fill();
    if (this.#isIdle()) this.#idle.resolve();
  }
}
