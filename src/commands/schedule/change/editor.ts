import { EXIT, SignalboxError } from "../../../base/errors.ts";
import { clean } from "../../../base/text.ts";
import { runEditor } from "../../../process/editor.ts";
import { EditorFile } from "../../configure/editor-file.ts";
import { ignoreCtrlC } from "../../ignore-ctrl-c.ts";
import type { Call, CommandIo } from "../../spec.ts";
import type { CommandContext } from "../../store-command.ts";

/** A text that the user edits. */
export interface EditableText<T> {
  text: string;
  /** Its name in messages. */
  name: string;
  /** @throws SignalboxError, SyntaxError if it cannot be parsed */
  parse(text: string): T;
  /** @returns the exit code */
  apply(value: T): Promise<number>;
}

/**
 * Opens a text in the user's editor, and again if it cannot be parsed. The file is kept unless its text was applied.
 */
export async function editText<T>(
  call: Call,
  io: CommandIo,
  context: CommandContext,
  { text, name, parse, apply }: EditableText<T>,
): Promise<number> {
  const printLine = (line: string) =>
    void (call.verbosity >= 0 && io.writeError(`signalbox: ${clean(line)}\n`));
  const sheet = new EditorFile(text);
  try {
    for (;;) {
      await openEditor(io, sheet, ignoreCtrlC(context.signal));
      const value = tryRead(() => parse(sheet.read()));
      if ("fault" in value) {
        printLine(`${name}: ${value.fault}`);
        const again = call.flags.yes ? "n" : await io.terminal.ask("Edit again? [Y/n] ");
        if (again === undefined || /^n/i.test(again.trim())) return EXIT.config;
        continue;
      }
      const code = await apply(value.value);
      if (code === EXIT.ok) sheet.discard();
      return code;
    }
  } finally {
    if (sheet.isChanged) printLine(`your text is kept in ${sheet.path}`);
    else sheet.discard();
  }
}

async function openEditor(
  { env: { VISUAL, EDITOR } }: CommandIo,
  sheet: EditorFile,
  signal: AbortSignal,
): Promise<void> {
  const end = await runEditor(VISUAL || EDITOR || "vi", sheet.path, signal);
  signal.throwIfAborted();
  if (!end.ok) throw new SignalboxError(EXIT.undone, `nothing was changed: ${end.why}`);
}

function tryRead<T>(read: () => T): { value: T } | { fault: string } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof SignalboxError || error instanceof SyntaxError) return { fault: error.message };
    throw error;
  }
}
