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

/** Returns the mark before a result message. It does not occur in normal output. */
export function formatMark(run: string): string {
  return `\x1e${run} `;
}

/** Creates a pattern for result messages in the output. */
function createMarkPattern(mark: string): RegExp {
  return new RegExp(`\\n?${mark}[^\\n]*\\n?`, "g");
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
  /** The text after this mark on a line is the result message of the module's host program, and not output. */
  mark?: string | undefined;
}

/**
 * The output of a task: logged line by line, kept on this host if that is configured, and its end for the outcome. The memory use
 * is constant.
 */
export class RecordedOutput {
  /** What must not appear in the output: passwords of this worker's settings, and what its options mask. */
  readonly #masks: readonly RegExp[];
  readonly #ports: HandlerPorts;
  readonly #task: ScheduledTask;
  readonly #mark: string | undefined;
  readonly #tail = new OutputTail();
  readonly #lines = {
    1: new LineSplitter((line) => this.#passLine(line)),
    2: new LineSplitter((line) => this.#passLine(line)),
  };
  readonly #keeper: OutputKeeper | undefined;
  #passed = 0;
  #word: string | undefined;

  constructor(ports: HandlerPorts, task: ScheduledTask, { secrets = [], mark }: RecordedOutputOptions = {}) {
    const { output: kept } = ports;
    this.#ports = ports;
    this.#task = task;
    this.#mark = mark;
    this.#masks = [...buildSecretMasks([...ports.secrets, ...secrets]), ...(kept?.storage.masks ?? [])];
    this.#keeper = this.#createKeeper();
    kept?.running.add(task.run);
  }

  /** The text after the last mark. */
  get word(): string | undefined {
    return this.#word;
  }

  take(chunk: Buffer, descriptor: 1 | 2): void {
    this.#tail.take(chunk);
    this.#lines[descriptor].take(chunk);
    this.#keeper?.take(chunk, descriptor);
  }

  /** Ends the output: text after the last line break becomes a line. */
  end(): void {
    this.#lines[1].end();
    this.#lines[2].end();
  }

  /**
   * Closes what is kept, without waiting for the disk.
   * @returns the end of the output, at most 4 KiB of UTF-8 with line breaks; undefined when there is no output
   */
  close(): string | undefined {
    const { output: kept } = this.#ports;
    void (this.#keeper?.close() ?? Promise.resolve()).finally(() => kept?.running.delete(this.#task.run));
    return this.#tail.render((text) => this.#sanitize(text));
  }

  #passLine(raw: string): void {
    const mark = this.#mark;
    const at = mark === undefined ? -1 : raw.indexOf(mark);
    if (mark !== undefined && at >= 0) this.#word = this.maskSecrets(raw.slice(at + mark.length));
    const text = clean(this.#sanitize(at < 0 ? raw : raw.slice(0, at))).trimEnd();
    if (text === "" || this.#passed > PASSED) return;
    this.#passed += text.length + LINE_COST;
    const line = this.#passed > PASSED ? "(further output is not passed on)" : text;
    const { id: schedule, run } = this.#task;
    this.#ports.log.info("output", { schedule, run, line });
  }

  #sanitize(text: string): string {
    return this.maskSecrets(
      this.#mark === undefined ? text : text.replaceAll(createMarkPattern(this.#mark), ""),
    );
  }

  /** Removes what must not appear in the output. */
  maskSecrets(text: string): string {
    return this.#masks.reduce((shown, mask) => shown.replaceAll(mask, "***"), text);
  }

  #createKeeper(): OutputKeeper | undefined {
    const { clock, log, output } = this.#ports;
    if (output === undefined) return undefined;
    const { id: schedule, run } = this.#task;
    return new OutputKeeper(clock, {
      ...output.storage,
      masks: this.#masks,
      run,
      removed: this.#mark === undefined ? undefined : createMarkPattern(this.#mark),
      onFault: (error) => log.warn("output is not kept", { schedule, run, error: error.message }),
    });
  }
}
