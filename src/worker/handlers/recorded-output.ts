import { clean } from "../../base/text.ts";
import { OutputKeeper, OutputTail } from "../../output/output-keeper.ts";
import { buildSecretMasks } from "../../output/output-mask.ts";
import type { ScheduledTask } from "../handler.ts";
import type { HandlerPorts } from "./handler-ports.ts";

/** A longer line is passed on in pieces of at most this many characters. */
const LINE_LENGTH = 2_000;
/**
 * How many characters of one run to pass on, and what each line costs in addition; the tail still has the end of the
 * rest.
 */
const PASSED = 64 * 1024;
const LINE_COST = 100;

/** How to process the output of a run. */
interface OutputOptions {
  /** What must not appear in the output: passwords of this worker's settings, and what its options mask. */
  masks: readonly RegExp[];
  /** Called with every line, after it was sanitized. */
  onLine(line: string): void;
  /** The text after this mark on a line is the result message of the module's host program, and not output. */
  mark?: string | undefined;
}

/** Returns the mark before a result message. It does not occur in normal output. */
export function formatMark(run: string): string {
  return `\x1e${run} `;
}

/** Creates a pattern for result messages in the output. */
function createMarkPattern(mark: string): RegExp {
  return new RegExp(`\\n?${mark}[^\\n]*\\n?`, "g");
}

/** Processes the output of a run: passes it on line by line and keeps its end. The memory use is constant. */
class Output {
  readonly #options: OutputOptions;
  readonly #tail = new OutputTail();
  #passed = 0;
  #word: string | undefined;
  readonly #lines: Record<1 | 2, LineSplitter>;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#lines = {
      1: new LineSplitter((line) => this.#passLine(line)),
      2: new LineSplitter((line) => this.#passLine(line)),
    };
  }

  /** The text after the last mark. */
  get word(): string | undefined {
    return this.#word;
  }

  take(chunk: Buffer, descriptor: 1 | 2): void {
    this.#tail.take(chunk);
    this.#lines[descriptor].take(chunk);
  }

  /** Ends the output: text after the last line break becomes a line. */
  end(): void {
    this.#lines[1].end();
    this.#lines[2].end();
  }

  /** Returns the end of the output, at most 4 KiB of UTF-8 with line breaks; undefined when there is no output. */
  renderTail(): string | undefined {
    return this.#tail.render((text) => this.#sanitize(text));
  }

  #passLine(raw: string): void {
    const { mark, onLine } = this.#options;
    const at = mark === undefined ? -1 : raw.indexOf(mark);
    if (mark !== undefined && at >= 0) this.#word = this.#maskSecrets(raw.slice(at + mark.length));
    const line = clean(this.#sanitize(at < 0 ? raw : raw.slice(0, at))).trimEnd();
    if (line === "" || this.#passed > PASSED) return;
    this.#passed += line.length + LINE_COST;
    onLine(this.#passed > PASSED ? "(further output is not passed on)" : line);
  }

  #sanitize(text: string): string {
    const { mark } = this.#options;
    if (mark === undefined) return this.#maskSecrets(text);
    return this.#maskSecrets(text.replaceAll(createMarkPattern(mark), ""));
  }

  #maskSecrets(text: string): string {
    return this.#options.masks.reduce((shown, mask) => shown.replaceAll(mask, "***"), text);
  }
}

/** Splits the text of one descriptor at line breaks. */
class LineSplitter {
  readonly #decoder = new TextDecoder();
  readonly #onLine: (line: string) => void;
  #rest = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  take(chunk: Buffer): void {
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#emitPieces(line);
    if (this.#rest.length <= LINE_LENGTH) return;
    const whole = this.#rest.length - (this.#rest.length % LINE_LENGTH);
    this.#emitPieces(this.#rest.slice(0, whole));
    this.#rest = this.#rest.slice(whole);
  }

  end(): void {
    this.#emitPieces(this.#rest + this.#decoder.decode());
    this.#rest = "";
  }

  #emitPieces(line: string): void {
    for (let at = 0; at < line.length; at += LINE_LENGTH) this.#onLine(line.slice(at, at + LINE_LENGTH));
  }
}

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
