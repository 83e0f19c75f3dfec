import type { ConsoleData } from "./parts/parts.ts";

/** A way to show the console on a terminal. */
export interface Display {
  /** Takes over the terminal. */
  begin(): void;
  /** Gives the terminal back, finally or for a suspend. */
  end(): void;
  /** Shows the current state. @returns false if the output is closed */
  show(app: ConsoleData): boolean;
  /** Discards what is known of the screen. */
  forget(): void;
}
