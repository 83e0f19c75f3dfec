import { type UnwrappedCommand, unwrapWords } from "../../../syntax/shell-wrappers.ts";
import { findToolStart, type ToolStart } from "./tools.ts";

/** The words of a command: those before the program, and the program. */
export interface WrappedCommand extends UnwrappedCommand {
  /** The tool that is started, if any. */
  start: ToolStart | undefined;
}

/** Finds what a command starts, after assignments (`A=b`) and wrappers (`nice -n 10`, `sudo -u x`, `env A=b`). */
export function unwrapCommand(words: readonly string[]): WrappedCommand {
  const found = unwrapWords(words, (at) => findToolStart(words, at) !== undefined);
  return { ...found, start: findToolStart(words, found.program) };
}
