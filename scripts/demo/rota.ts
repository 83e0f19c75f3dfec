import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { BUNDLE, cleanEnv } from "../../fixtures/signalbox.ts";
import { Chance } from "./chance.ts";
import { hostsOf } from "./hosts.ts";
import { JOBS, type Job, seatName } from "./jobs.ts";

/** Runs that start at the same moment: a start costs a tenth of a second of a processor. */
const STARTS_AT_ONCE = 4;
/** A script stands for work: it sleeps, and ends as it was told. */
const SCRIPT = '#!/bin/sh\n[ "$2" = 0 ] && exec sleep "$1"\nsleep "$1"\nexit "$2"\n';

export interface RotaOptions {
  seed: number;
  /** Where scripts go. */
  folder: string;
  /** Of a host's configuration file. */
  config(host: string): string;
}

/** The runs of all jobs, again and again; the same ones in the same order for one seed, as far as locks let them. */
export class Rota {
  readonly #options: RotaOptions;
  readonly #running = new Set<ChildProcess>();
  readonly #gate = new Gate(STARTS_AT_ONCE);
  readonly #over = new AbortController();

  constructor(options: RotaOptions) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true });
    for (const { name } of JOBS) {
      writeFileSync(this.#script(name), SCRIPT);
      chmodSync(this.#script(name), 0o755);
    }
  }

  /** Resolves when everyone who is at work from the first moment on has started or stands in a queue. */
  async start(): Promise<void> {
    const seats = JOBS.flatMap((job) => Array.from({ length: job.rivals }, (_, seat) => ({ job, seat })));
    await Promise.all(
      seats.map(({ job, seat }) => new Promise<void>((done) => void this.#sit(job, seat, done))),
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

  /** @param onSettled  called once, when the first run stands where it stands */
  async #sit(job: Job, seat: number, onSettled: () => void): Promise<void> {
    const chance = new Chance(this.#options.seed, seatName(job, seat));
    const [, most] = job.lasts;
    let share = chance.between([0.2, 1]); // of the first run, so that they do not all end at once
    if (job.rivals === 1 && chance.unit() < job.rests[1] / (job.rests[1] + 2 * most)) {
      onSettled();
      await this.#rest(chance.between(job.rests));
    }
    while (!this.#over.signal.aborted) {
      const seconds = chance.between(job.lasts) * share;
      const code = await this.#run(job, chance, Math.ceil(seconds), onSettled);
      share = 1;
      await this.#rest(chance.between(job.rests) + (code === 75 ? 10 : 0));
    }
    onSettled();
  }

  /** @returns its exit code */
  async #run(job: Job, chance: Chance, seconds: number, onSettled: () => void): Promise<number | null> {
    const exit = chance.unit() < job.failing ? chance.one([1, 1, 2, 70]) : 0;
    const args = this.#args(job, chance.one(hostsOf(job.hosts)), [String(seconds), String(exit)]);
    const leave = await this.#gate.enter();
    const settled = () => {
      leave();
      onSettled();
    };
    if (this.#over.signal.aborted) {
      settled();
      return null;
    }
    const child = spawn(process.execPath, [BUNDLE, ...args], {
      env: cleanEnv(),
      stdio: ["ignore", "ignore", "pipe"],
      detached: true, // keys like Ctrl+Z are for the console
    });
    this.#running.add(child);
    child.stderr.once("data", settled); // it says that it has started, or why it waits
    return await new Promise((done) => {
      child.once("close", (code) => {
        this.#running.delete(child);
        settled();
        done(code);
      });
    });
  }

  #args(job: Job, host: string, words: readonly string[]): string[] {
    return [
      ...["run", "-v", "--config", this.#options.config(host), "--record-args"],
      ...(job.isLockless ? ["--no-lock"] : ["--lock", job.name]),
      ...(job.isPatient && !job.isLockless ? ["--wait"] : []),
      ...job.leases.flatMap((lease) => ["--lease", lease]),
      ...[...job.flags, "--", this.#script(job.name), ...words],
    ];
  }

  #script(name: string): string {
    return join(this.#options.folder, `${name}.sh`);
  }

  async #rest(seconds: number): Promise<void> {
    await pause(seconds * 1000, undefined, { signal: this.#over.signal }).catch(() => {});
  }
}

/** Lets so many in at a time. */
class Gate {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** @returns leaves again; calling it twice is leaving once */
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
