import type { App } from "../app/app.ts";

/** How the console is shown on a terminal. */
export interface Face {
  /** The terminal is there to be written on. */
  begin(): void;
  /** It is given back, for good or for a while. */
  end(): void;
  /** Shows how things are. @returns false once nobody looks any more */
  show(app: App): boolean;
  /** What is on the screen is no longer known. */
  forget(): void;
}
