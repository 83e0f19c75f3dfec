import type { Clock } from "../../base/clock.ts";
import { pruneOutput } from "./output-directory.ts";
import { OutputFile } from "./output-file.ts";
import { OutputMask } from "./output-mask.ts";
import { OutputTail } from "./output-tail.ts";

/** Where and how much output is kept. */
export interface OutputStorage {
  directory: string;
  /** Most bytes of one run. */
  size: number;
  /** How long output is kept after the end of a run, ms. */
  age: number;
  masks: readonly RegExp[];
}

interface OutputKeeperOptions extends OutputStorage {
  run: string;
  /** What is not output, and is removed. */
  removed?: RegExp | undefined;
  onFault(error: Error): void;
}

/** Interval of looks for old runs, ms. */
const PRUNE_EVERY = 60_000;
let nextPrune = Number.NEGATIVE_INFINITY;

/** Keeps the output of one run: masked, in files, and its end. Never throws, and never delays its caller. */
export class OutputKeeper {
  readonly #clock: Clock;
  readonly #options: OutputKeeperOptions;
  readonly #file: OutputFile;
  readonly #tail = new OutputTail();
  readonly #masks: Record<1 | 2, OutputMask>;
  #hasOutput = false;

  constructor(clock: Clock, options: OutputKeeperOptions) {
    const { masks, removed } = options;
    this.#clock = clock;
    this.#options = options;
    this.#file = new OutputFile(clock, options);
    this.#masks = { 1: new OutputMask(masks, removed), 2: new OutputMask(masks, removed) };
  }

  take(chunk: Buffer, descriptor: 1 | 2): void {
    this.#keep(this.#masks[descriptor].take(chunk), descriptor);
  }

  /** Notes that output is missing here. */
  addLost(bytes: number): void {
    this.#hasOutput = true;
    this.#file.addLost(bytes);
  }

  /** Returns the end of the output, for etcd; undefined when there is no output. */
  renderTail(): string | undefined {
    this.#keep(this.#masks[1].end(), 1);
    this.#keep(this.#masks[2].end(), 2);
    return this.#tail.render();
  }

  /** Marks the end of the run, and waits until the output is in the files. A run without output has no files. */
  async close(): Promise<void> {
    this.renderTail();
    if (!this.#hasOutput) return;
    await this.#file.close();
    const { directory, age } = this.#options;
    if (this.#clock.now() < nextPrune) return;
    nextPrune = this.#clock.now() + PRUNE_EVERY;
    await pruneOutput(directory, { age, now: this.#clock.getWallTime() });
  }

  #keep(bytes: Buffer, descriptor: 1 | 2): void {
    if (bytes.length === 0) return;
    this.#hasOutput = true;
    this.#tail.take(bytes);
    this.#file.append(descriptor, bytes);
  }
}
