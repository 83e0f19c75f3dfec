import type { ScreenInputs } from "./panes/screen-model.ts";

/** A way to show the console on a terminal. */
export interface Display {
  /** Takes over the terminal. */
  begin(): void;
  /** Gives the terminal back, finally or for a suspend. */
  end(): void;
  /** Shows the current state. @returns false if the output is closed */
  show(app: ScreenInputs): boolean;
  /** Whether the last call of `show` has written everything. If not, call it again when the terminal has answered. */
  readonly isComplete: boolean;
  /** Discards what is known of the screen. */
  forget(): void;
}
