import type { InputEvent } from "./event.ts";
import { InputParser, type Open } from "./parser.ts";

/**
 * So long is waited for the rest, ms. After Escape that is felt. What has begun as a sequence is surely one, and slow lines
 * split them: its end must not be taken for keys.
 */
const PATIENCE: Readonly<Record<Open, number>> = { escape: 40, sequence: 1_000, paste: 1_000 };

/** Calls back once after some ms. @returns how to prevent it */
export type Wait = (milliseconds: number, then: () => void) => () => void;

/** What the bytes of a terminal go through. */
export interface KeyReader {
  feed(bytes: Uint8Array): void;
  /** Nothing is told any more, not even the rest of a read. */
  end(): void;
}

/** Makes events of what a terminal sends; knows time, which tells Escape from the beginning of a sequence. */
export function readKeys(onEvent: (event: InputEvent) => void, wait: Wait = later): KeyReader {
  const parser = new InputParser();
  let cancel: (() => void) | undefined;
  let hasEnded = false;
  const tell = (events: readonly InputEvent[]) => {
    for (const event of events) if (!hasEnded) onEvent(event);
  };
  return {
    feed(bytes) {
      cancel?.();
      cancel = undefined;
      tell(parser.feed(bytes));
      const { open } = parser;
      if (open !== undefined && !hasEnded) cancel = wait(PATIENCE[open], () => tell(parser.flush()));
    },
    end() {
      hasEnded = true;
      cancel?.();
    },
  };
}

function later(milliseconds: number, then: () => void): () => void {
  const timer = setTimeout(then, milliseconds);
  return () => clearTimeout(timer);
}
