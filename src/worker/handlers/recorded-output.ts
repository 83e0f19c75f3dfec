import { clean } from "../../core/base/text.ts";
import { OutputKeeper, OutputTail } from "../../site/output/output-keeper.ts";
import { buildSecretMasks } from "../../site/output/output-mask.ts";
import type { ScheduledTask } from "../handler.ts";
import type { HandlerPorts } from "../worker-ports.ts";

/** A longer line is passed on in pieces of at most this many characters. */
const LINE_LENGTH = 2_000;
/**
 * How many characters of one run to pass on, and what each line costs in addition; the tail still has the end of the
 * rest.
 */
const MAX_PASSED_CHARACTERS = 64 * 1024;
const LINE_COST = 100;

/** Returns the mark before a result message. It does not occur in normal output. */
export function formatMark(run: string): string {
  return `\x1e${run} `;
}

/** Creates a pattern for result messages in the output. */
function createMarkPattern(mark: string): RegExp {
  return new RegExp(`\\n?${mark}[^\\n]*\\n?`, "g");
}

/** Creates what splits the text of one descriptor at line breaks. */
function createLineSplitter(onLine: (line: string) => void) {
  const decoder = new TextDecoder();
  let rest = "";
  const emitPieces = (line: string) => {
    for (let at = 0; at < line.length; at += LINE_LENGTH) onLine(line.slice(at, at + LINE_LENGTH));
  };
  return {
    take(chunk: Buffer) {
      rest += decoder.decode(chunk, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(emitPieces);
      if (rest.length <= LINE_LENGTH) return;
      const whole = rest.length - (rest.length % LINE_LENGTH);
      emitPieces(rest.slice(0, whole));
      rest = rest.slice(whole);
    },
    end() {
      emitPieces(rest + decoder.decode());
      rest = "";
    },
  };
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
export interface RecordedOutput {
  take(chunk: Buffer, descriptor: 1 | 2): void;
  /** Ends the output: text after the last line break becomes a line. */
  end(): void;
  /**
   * Closes what is kept, without waiting for the disk.
   * @returns the end of the output, at most 4 KiB of UTF-8 with line breaks; undefined when there is no output
   */
  close(): string | undefined;
  /** Returns the text after the last mark. */
  getWord(): string | undefined;
  /** Removes what must not appear in the output: passwords of this worker's settings, and what its options mask. */
  maskSecrets(text: string): string;
}

export function createRecordedOutput(
  { clock, log, output: kept, secrets: own }: HandlerPorts,
  { id: schedule, run }: ScheduledTask,
  { secrets = [], mark }: RecordedOutputOptions = {},
): RecordedOutput {
  const masks = [...buildSecretMasks([...own, ...secrets]), ...(kept?.storage.masks ?? [])];
  const removed = mark === undefined ? undefined : createMarkPattern(mark);
  const keeper =
    kept &&
    new OutputKeeper(clock, {
      ...kept.storage,
      masks,
      run,
      removed,
      onFault: (error) => log.warn("output is not kept", { schedule, run, error: error.message }),
    });
  kept?.running.add(run);
  const tail = new OutputTail();
  let passed = 0;
  let word: string | undefined;

  const maskSecrets = (text: string) => masks.reduce((shown, mask) => shown.replaceAll(mask, "***"), text);
  const sanitize = (text: string) => maskSecrets(removed === undefined ? text : text.replaceAll(removed, ""));

  const passLine = (raw: string) => {
    const at = mark === undefined ? -1 : raw.indexOf(mark);
    if (mark !== undefined && at >= 0) word = maskSecrets(raw.slice(at + mark.length));
    const text = clean(sanitize(at < 0 ? raw : raw.slice(0, at))).trimEnd();
    if (text === "" || passed > MAX_PASSED_CHARACTERS) return;
    passed += text.length + LINE_COST;
    const line = passed > MAX_PASSED_CHARACTERS ? "(further output is not passed on)" : text;
    log.info("output", { schedule, run, line });
  };

  const lines = { 1: createLineSplitter(passLine), 2: createLineSplitter(passLine) };
  return {
    take(chunk, descriptor) {
      tail.take(chunk);
      lines[descriptor].take(chunk);
      keeper?.take(chunk, descriptor);
    },
    end() {
      lines[1].end();
      lines[2].end();
    },
    close() {
      void (keeper?.close() ?? Promise.resolve()).finally(() => kept?.running.delete(run));
      return tail.render(sanitize);
    },
    getWord: () => word,
    maskSecrets,
  };
}
