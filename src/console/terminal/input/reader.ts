import type { InputEvent } from "./event.ts";
import { InputParser, type PendingInput } from "./parser.ts";

/**
 * Wait for the rest of incomplete input, ms. After Escape the user notices the wait. A started sequence is certainly
 * one, and slow lines split sequences: its end must not be taken for keys.
 */
const PATIENCE: Readonly<Record<PendingInput, number>> = { escape: 40, sequence: 1_000, paste: 1_000 };

/** Calls `then` once after some ms. @returns a function that cancels the call */
export type TimeoutFunction = (milliseconds: number, then: () => void) => () => void;

/** Receives the bytes of a terminal. */
export interface KeyReader {
  feed(bytes: Uint8Array): void;
  /** Stops all events, including those of the bytes just read. */
  end(): void;
}

/**
 * Creates a reader that converts terminal input to events, with the timer that distinguishes Escape from the start of
 * a sequence.
 */
export function createKeyReader(
  onEvent: (event: InputEvent) => void,
  startTimeout: TimeoutFunction = startTimer,
): KeyReader {
  const parser = new InputParser();
  let cancel: (() => void) | undefined;
  let hasEnded = false;
  const emitEvents = (events: readonly InputEvent[]) => {
    for (const event of events) if (!hasEnded) onEvent(event);
  };
  return {
    feed(bytes) {
      cancel?.();
      cancel = undefined;
      emitEvents(parser.feed(bytes));
      const { pending } = parser;
      if (pending !== undefined && !hasEnded)
        cancel = startTimeout(PATIENCE[pending], () => emitEvents(parser.flush()));
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
