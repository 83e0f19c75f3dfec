import type { ShellCommand } from "../../fleet/shell-words.ts";
import type { Markers } from "./markers.ts";
import type { Start } from "./tools.ts";
import type { Wrapped } from "./wrappers.ts";

/** What a tool's line is translated with. */
export interface Ground {
  /** What the shell and the tool find in their environment, by name. */
  variables: ReadonlyMap<string, string>;
  /** Texts of the tools' own configuration files, by path. */
  files: ReadonlyMap<string, string>;
  /** What the new lines call. */
  program: string;
  /** The tool keeps its words, behind those of `signalbox run`: while hosts change over, both locks are held. */
  around?: boolean;
  /** Where the tool's server is, and how to get in, is left to signalbox's own configuration. */
  noConnection?: boolean;
}

/** A simple command in its text. */
export interface Place {
  text: string;
  command: ShellCommand;
  wrapped: Wrapped & { start: Start };
  markers: Markers;
}

/** From one word's start to the end of the word before another. */
export function range({ command }: Place, from: number, to: number): { start: number; end: number } {
  return { start: command.spans[from]?.start ?? 0, end: command.spans[to - 1]?.end ?? 0 };
}

/** A word as it is written. */
export function sourceOf({ text, command }: Place, index: number): string {
  const { start, end } = command.spans[index] ?? { start: 0, end: 0 };
  return text.slice(start, end);
}
