import { OutputKeeper } from "../../output/output-keeper.ts";
import { buildSecretMasks } from "../../output/output-mask.ts";
import type { ScheduledTask } from "../handler.ts";
import type { HandlerPorts } from "./handler-ports.ts";
import { createMarkPattern, Output } from "./output.ts";

/** What to remove from the output of a run. */
interface RecordedOutputOptions {
  /** Texts that must not appear, in addition to those of the worker. */
  secrets?: readonly string[];
  /** Mark before a result message. */
  mark?: string | undefined;
}

/** The output of a task: logged line by line, kept on this host if that is configured, and its end for the outcome. */
export class RecordedOutput {
  readonly masks: readonly RegExp[];
  readonly #ports: HandlerPorts;
  readonly #run: string;
  readonly #output: Output;
  readonly #keeper: OutputKeeper | undefined;

  constructor(ports: HandlerPorts, task: ScheduledTask, { secrets = [], mark }: RecordedOutputOptions = {}) {
    const { log, output: kept } = ports;
    const { id: schedule, run } = task;
    this.#ports = ports;
    this.#run = run;
    this.masks = [...buildSecretMasks([...ports.secrets, ...secrets]), ...(kept?.storage.masks ?? [])];
    const onLine = (line: string) => log.info("output", { schedule, run, line });
    this.#output = new Output({ masks: this.masks, onLine, mark });
    this.#keeper = this.#createKeeper(schedule, mark);
    kept?.running.add(run);
  }

  /** The text after the last mark. */
  get word(): string | undefined {
    return this.#output.word;
  }

  take(chunk: Buffer, descriptor: 1 | 2): void {
    this.#output.take(chunk, descriptor);
    this.#keeper?.take(chunk, descriptor);
  }

  /** Ends the output: text after the last line break becomes a line. */
  end(): void {
    this.#output.end();
  }

  /**
   * Closes what is kept, without waiting for the disk.
   * @returns the end of the output, at most 4 KiB of UTF-8; undefined when there is no output
   */
  close(): string | undefined {
    const { output: kept } = this.#ports;
    void (this.#keeper?.close() ?? Promise.resolve()).finally(() => kept?.running.delete(this.#run));
    return this.#output.renderTail();
  }

  #createKeeper(schedule: string, mark: string | undefined): OutputKeeper | undefined {
    const { clock, log, output } = this.#ports;
    if (output === undefined) return undefined;
    const removed = mark === undefined ? undefined : createMarkPattern(mark);
    const onFault = (error: Error) =>
      log.warn("output is not kept", { schedule, run: this.#run, error: error.message });
    return new OutputKeeper(clock, {
      ...output.storage,
      masks: this.masks,
      run: this.#run,
      removed,
      onFault,
    });
  }
}
