import type { InputEvent } from "./event.ts";
import { InputParser } from "./parser.ts";

/**
 * So long is waited for the rest, ms. After Escape that is felt. What has begun as a sequence is surely one, and slow lines
 * split them: its end must not be taken for keys.
 */
const PATIENCE = { escape: 40, sequence: 1_000 };

/** Makes events of what a terminal sends; knows time, which tells Escape from the beginning of a sequence. */
export function readKeys(onEvent: (event: InputEvent) => void): {
  feed(bytes: Uint8Array): void;
  end(): void;
} {
  const parser = new InputParser();
  let timer: NodeJS.Timeout | undefined;
  const tell = (events: readonly InputEvent[]) => {
    for (const event of events) onEvent(event);
  };
  return {
    feed(bytes) {
      clearTimeout(timer);
      tell(parser.feed(bytes));
      const { open } = parser;
      if (open !== undefined) timer = setTimeout(() => tell(parser.flush()), PATIENCE[open]);
    },
    end: () => clearTimeout(timer),
  };
}
