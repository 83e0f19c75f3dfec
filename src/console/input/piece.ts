import type { InputEvent } from "./event.ts";

/** What goes on beyond any piece: OSC, DCS and the like; a paste; a sequence too long to be a key. */
export type Mode = "string" | "paste" | "csi";

/** A piece of input: how long it is, in bytes, and an event or nothing. */
export interface Piece {
  length: number;
  event?: InputEvent | undefined;
  /** What it begins. */
  begins?: Mode;
}
