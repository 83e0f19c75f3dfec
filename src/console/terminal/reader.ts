import type { InputEvent } from "./event.ts";
import { InputParser, type PendingInput, type TerminalInput } from "./parser.ts";
import type { TerminalReport } from "./report.ts";

/**
 * Wait for the rest of incomplete input, ms. After Escape the user notices the wait. A started sequence is certainly
 * one, and slow lines split sequences: its end must not be taken for keys.
 */
const PATIENCE: Readonly<Record<PendingInput, number>> = {
  escape: 40,
  sequence: 1_000,
  report: 10_000,
  paste: 1_000,
};
/** The same for an Escape while the terminal has to answer a question: it may be the beginning of the answer. */
const EXPECTING = 250;

/** Calls `then` once after some ms. @returns a function that cancels the call */
export type TimeoutFunction = (milliseconds: number, then: () => void) => () => void;

/** Receives the bytes of a terminal. */
export interface KeyReader {
  feed(bytes: Uint8Array): void;
  /** The terminal was asked something; until it answers, an Escape may begin its answer. */
  expectReport(isExpected: boolean): void;
  /** Stops all events of the user, including those of the bytes just read. */
  end(): void;
}

/**
 * Creates a reader that converts terminal input to events, with the timer that distinguishes Escape from the start of
 * a sequence.
 * @param onReport  receives answers of the terminal, also after `end`
 */
export function createKeyReader(
  onEvent: (event: InputEvent) => void,
  onReport: (report: TerminalReport) => void = () => {},
  startTimeout: TimeoutFunction = startTimer,
): KeyReader {
  const parser = new InputParser();
  let cancel: (() => void) | undefined;
  let [hasEnded, isExpecting] = [false, false];
  const emitInput = (input: readonly TerminalInput[]) => {
    for (const one of input) {
      if (one.kind === "report") onReport(one);
      else if (!hasEnded) onEvent(one);
    }
  };
  return {
    feed(bytes) {
      cancel?.();
      cancel = undefined;
      emitInput(parser.feed(bytes));
      const { pending } = parser;
      if (pending === undefined || (hasEnded && !isExpecting)) return;
      const patience = pending === "escape" && isExpecting ? EXPECTING : PATIENCE[pending];
      cancel = startTimeout(patience, () => emitInput(parser.flush()));
    },
    expectReport(isExpected) {
      isExpecting = isExpected;
    },
    end() {
      hasEnded = true;
      cancel?.();
    },
  };
}

function startTimer(milliseconds: number, then: () => void): () => void {
  const timer = setTimeout(then, milliseconds);
  return () => clearTimeout(timer);
}
