import type { CommandIo } from "../../commands/spec.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";

/** Receives the output of a command, line by line, and can end the command. */
export interface OutputCapture {
  /**
   * Receives whole lines, without line breaks. Lines on standard error arrive at once, lines on standard output when
   * they are written.
   */
  writeLine(text: string, stream: "out" | "err"): void;
  /** Aborted when the user ends the command: the command receives an interrupt. */
  signal: AbortSignal;
  /** Returns the displayed snapshot for previews, or undefined if it is not live. */
  getSnapshot(): Snapshot | undefined;
}

/** Builds the io of a command that runs inside the console: no terminal, no prompts, and its output is captured. */
export function createCapturingIo(
  io: CommandIo,
  { writeLine, signal, getSnapshot }: OutputCapture,
): CommandIo {
  const createLineSplitter = (stream: "out" | "err") => {
    let rest = "";
    return (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const one of lines) writeLine(one, stream);
      return true;
    };
  };
  const out = createLineSplitter("out");
  const err = createLineSplitter("err");
  return {
    env: io.env,
    writeOutput: out,
    getSnapshot,
    readInput: async () => "",
    writeError: (text) => void err(text),
    writeMessage: (line) => writeLine(line, "err"),
    onSignal(listener) {
      const notifyListener = () => listener("SIGINT");
      signal.addEventListener("abort", notifyListener);
      return () => signal.removeEventListener("abort", notifyListener);
    },
    terminal: {
      isOutput: () => false,
      canAsk: () => false,
      getSize: io.terminal.getSize,
      onResize: () => () => {},
      ask: async () => undefined,
    },
  };
}
