import type { InputEvent } from "./event.ts";
import type { TerminalReport } from "./report.ts";

/** Input that continues beyond one piece: OSC; DCS and other strings; a paste; a sequence too long to be a key. */
export type ParserMode = "osc" | "string" | "paste" | "csi";

/** A parsed piece of input: its length in bytes, and its event, if any. */
export interface InputPiece {
  length: number;
  event?: InputEvent | TerminalReport | undefined;
  /** The mode that starts after it. */
  begins?: ParserMode;
}
