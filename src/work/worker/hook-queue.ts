/** How much may wait and run at once. */
export interface QueueLimits {
  /** Jobs that run at once. */
  running: number;
  /** Jobs that wait, of one lane and of all. */
  lane: number;
  all: number;
}

type Job = () => Promise<void>;

/** Runs jobs, those of one lane one after the other in their order. What does not fit is refused. */
export class HookQueue {
  readonly #limits: QueueLimits;
  /** Waiting jobs by lane; a lane with one that runs is here too. */
  readonly #lanes = new Map<string, Job[]>();
  /** Lanes with something to run, none of which runs now, in order. */
  readonly #ready: string[] = [];
  #waiting = 0;
  #running = 0;
  #idle = Promise.withResolvers<void>();

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#idle.resolve();
  }

  /** @param job  never rejects. @returns false where there is no room for it */
  add(lane: string, job: Job): boolean {
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
  idle(): Promise<void> {
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
      void job().finally(() => this.#over(lane));
    }
  }

  #over(lane: string): void {
    this.#running -= 1;
    if (this.#lanes.get(lane)?.length === 0) this.#lanes.delete(lane);
    else this.#ready.push(lane);
    this.#fill();
    if (this.#isIdle()) this.#idle.resolve();
  }
}
