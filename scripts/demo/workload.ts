import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { BUNDLE, createCleanEnv } from "../../fixtures/signalbox.ts";
import { listDemoHosts } from "./hosts.ts";
import { type DemoJob, formatCompetitorName, JOBS } from "./jobs.ts";
import { NamedRandom } from "./named-random.ts";

/** Number of runs that start at the same time. A start takes a tenth of a second of processor time. */
const STARTS_AT_ONCE = 4;
/** The script of a job: it sleeps for `$1` seconds, and exits with `$2`. */
const SCRIPT = '#!/bin/sh\n[ "$2" = 0 ] && exec sleep "$1"\nsleep "$1"\nexit "$2"\n';

export interface WorkloadOptions {
  seed: number;
  /** Folder for the scripts. */
  folder: string;
  /** Returns the path of a host's configuration file. */
  getConfigPath(host: string): string;
}

/** Runs all jobs repeatedly. The same seed gives the same runs in the same order, as far as the locks allow it. */
export class Workload {
  readonly #options: WorkloadOptions;
  readonly #running = new Set<ChildProcess>();
  readonly #gate = new StartLimiter(STARTS_AT_ONCE);
  readonly #over = new AbortController();

  constructor(options: WorkloadOptions) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true });
    for (const { name } of JOBS) {
      writeFileSync(this.#getScriptPath(name), SCRIPT);
      chmodSync(this.#getScriptPath(name), 0o755);
    }
  }

  /** Starts all competitors. Resolves when the first run of each has started or waits in a queue. */
  async start(): Promise<void> {
    const seats = JOBS.flatMap((job) => Array.from({ length: job.rivals }, (_, seat) => ({ job, seat })));
    await Promise.all(
      seats.map(({ job, seat }) => new Promise<void>((done) => void this.#runCompetitor(job, seat, done))),
    );
  }

  get running(): number {
    return this.#running.size;
  }

  /** Kills all runners; their guardians end the commands. */
  async stop(): Promise<void> {
    this.#over.abort();
    const ends = [...this.#running].map((child) => new Promise((done) => child.once("close", done)));
    for (const child of this.#running) child.kill("SIGKILL");
    await Promise.all(ends);
  }

  /** @param onSettled  called when the first run has started or waits; further calls have no effect */
  async #runCompetitor(job: DemoJob, competitor: number, onSettled: () => void): Promise<void> {
    const chance = new NamedRandom(this.#options.seed, formatCompetitorName(job, competitor));
    const [, most] = job.lasts;
    let share = chance.drawBetween([0.2, 1]); // shortens the first run, so that the first runs end at different times
    if (job.rivals === 1 && chance.drawUnit() < job.rests[1] / (job.rests[1] + 2 * most)) {
      onSettled();
      await this.#waitSeconds(chance.drawBetween(job.rests));
    }
    while (!this.#over.signal.aborted) {
      const seconds = chance.drawBetween(job.lasts) * share;
      const code = await this.#run(job, chance, Math.ceil(seconds), onSettled);
      share = 1;
      await this.#waitSeconds(chance.drawBetween(job.rests) + (code === 75 ? 10 : 0));
    }
    onSettled();
  }

  /** @returns its exit code */
  async #run(
    job: DemoJob,
    chance: NamedRandom,
    seconds: number,
    onSettled: () => void,
  ): Promise<number | null> {
    const exit = chance.drawUnit() < job.failing ? chance.pickOne([1, 1, 2, 70]) : 0;
    const args = this.#buildArgs(job, chance.pickOne(listDemoHosts(job.hosts)), [
      String(seconds),
      String(exit),
    ]);
    const leave = await this.#gate.enter();
    const finishStart = () => {
      leave();
      onSettled();
    };
    if (this.#over.signal.aborted) {
      finishStart();
      return null;
    }
    const child = spawn(process.execPath, [BUNDLE, ...args], {
      env: createCleanEnv(),
      stdio: ["ignore", "ignore", "pipe"],
      detached: true, // keys such as Ctrl+Z must reach only the console
    });
    this.#running.add(child);
    child.stderr.once("data", finishStart); // with -v, a run prints that it has started, or why it waits
    return await new Promise((done) => {
      child.once("close", (code) => {
        this.#running.delete(child);
        finishStart();
        done(code);
      });
    });
  }

  #buildArgs(job: DemoJob, host: string, words: readonly string[]): string[] {
    return [
      "run",
      "-v",
      "--config",
      this.#options.getConfigPath(host),
      "--record-args",
      ...(job.isLockless ? ["--no-lock"] : ["--lock", job.name]),
      ...(job.isPatient && !job.isLockless ? ["--wait"] : []),
      ...job.leases.flatMap((lease) => ["--lease", lease]),
      ...job.flags,
      "--",
      this.#getScriptPath(job.name),
      ...words,
    ];
  }

  #getScriptPath(name: string): string {
    return join(this.#options.folder, `${name}.sh`);
  }

  async #waitSeconds(seconds: number): Promise<void> {
    await pause(seconds * 1000, undefined, { signal: this.#over.signal }).catch(() => {});
  }
}

/** Limits the number of concurrent starts. */
class StartLimiter {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** Waits for a free place. @returns a function that frees the place; only its first call has an effect */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((enter) => this.#queue.push(enter));
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      const next = this.#queue.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}
