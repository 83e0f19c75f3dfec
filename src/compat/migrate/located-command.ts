import type { ShellCommand } from "../../syntax/shell-parser.ts";
import type { Markers } from "./markers.ts";
import type { ToolStart, WrappedCommand } from "./tools.ts";

/** What the translation of a line needs besides the line. */
export interface TranslationContext {
  /** Environment variables of the shell and the tool, by name. */
  variables: ReadonlyMap<string, string>;
  /** Texts of the tools' own configuration files, by path. */
  files: ReadonlyMap<string, string>;
  /** The program that the new lines call. */
  program: string;
  /** Keeps the tool's words after those of `signalbox run`: both locks are held while hosts are migrated. */
  around?: boolean;
  /** Leaves the server address and the login to signalbox's own configuration. */
  noConnection?: boolean;
}

/** A simple command and its position in a text. */
export interface LocatedCommand {
  text: string;
  command: ShellCommand;
  wrapped: WrappedCommand & { start: ToolStart };
  markers: Markers;
}

/** Returns the range from the start of word `from` to the end of the word before `to`. */
export function getWordRange(
  { command }: LocatedCommand,
  from: number,
  to: number,
): { start: number; end: number } {
  return { start: command.spans[from]?.start ?? 0, end: command.spans[to - 1]?.end ?? 0 };
}

/** Returns the source text of a word. */
export function getWordSource({ text, command }: LocatedCommand, index: number): string {
  const { start, end } = command.spans[index] ?? { start: 0, end: 0 };
  return text.slice(start, end);
}
