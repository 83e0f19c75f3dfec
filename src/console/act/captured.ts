import type { Surroundings } from "../../commands/spec.ts";
import type { Picture } from "../../model/picture.ts";

/** What a command says while it runs, line by line, and how it is ended. */
export interface Capture {
  /** Whole lines, without breaks. Those for people come at once; what is on standard output, when it is written. */
  line(text: string, stream: "out" | "err"): void;
  /** Aborted when the user wants it to end: the command sees an interrupt. */
  signal: AbortSignal;
  /** What is on the screen, for previews; undefined where that is not live. */
  picture(): Picture | undefined;
}

/** Surroundings of a command that is run inside the console: no terminal, nobody to ask, and what it says is kept. */
export function captured(world: Surroundings, { line, signal, picture }: Capture): Surroundings {
  const split = (stream: "out" | "err") => {
    let rest = "";
    return (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const one of lines) line(one, stream);
      return true;
    };
  };
  const out = split("out");
  const err = split("err");
  return {
    ...{ env: world.env, out, picture, input: async () => "" },
    err: (text) => void err(text),
    onSignal(listener) {
      const tell = () => listener("SIGINT");
      signal.addEventListener("abort", tell);
      return () => signal.removeEventListener("abort", tell);
    },
    terminal: {
      ...{ isOutput: () => false, canAsk: () => false, size: world.terminal.size },
      ...{ onResize: () => () => {}, ask: async () => undefined },
    },
  };
}
