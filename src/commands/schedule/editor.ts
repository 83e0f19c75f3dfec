import { EXIT, SignalboxError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { runEditor } from "../../process/editor.ts";
import { Sheet } from "../configure/edit-sheet.ts";
import type { Call, Surroundings } from "../spec.ts";
import { type Desk, Interrupted } from "../with-store.ts";

/** A text that somebody is to edit. */
export interface Editable<T> {
  text: string;
  /** What it is, for messages. */
  name: string;
  /** @throws SignalboxError, SyntaxError where it cannot be read */
  read(text: string): T;
  /** @returns the exit code */
  take(value: T): Promise<number>;
}

/** Opens a text in the user's editor, again where it cannot be read; what was typed is kept unless it was taken. */
export async function typed<T>(
  call: Call,
  world: Surroundings,
  desk: Desk,
  { text, name, read, take }: Editable<T>,
): Promise<number> {
  const say = (line: string) => void (call.verbosity >= 0 && world.err(`signalbox: ${clean(line)}\n`));
  const sheet = new Sheet(text);
  try {
    for (;;) {
      await open(world, sheet, beyondCtrlC(desk.signal));
      const value = attempt(() => read(sheet.read()));
      if ("fault" in value) {
        say(`${name}: ${value.fault}`);
        const again = call.flags.yes ? "n" : await world.terminal.ask("Edit again? [Y/n] ");
        if (again === undefined || /^n/i.test(again.trim())) return EXIT.config;
        continue;
      }
      const code = await take(value.value);
      if (code === EXIT.ok) sheet.discard();
      return code;
    }
  } finally {
    if (sheet.isChanged) say(`what you typed is kept in ${sheet.path}`);
    else sheet.discard();
  }
}

async function open(
  { env: { VISUAL, EDITOR } }: Surroundings,
  sheet: Sheet,
  signal: AbortSignal,
): Promise<void> {
  const end = await runEditor(VISUAL || EDITOR || "vi", sheet.path, signal);
  signal.throwIfAborted();
  if (!end.ok) throw new SignalboxError(EXIT.undone, `nothing was changed: ${end.why}`);
}

function attempt<T>(read: () => T): { value: T } | { fault: string } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof SignalboxError || error instanceof SyntaxError) return { fault: error.message };
    throw error;
  }
}

/** Ctrl+C in an editor is the editor's: it must not end us, who hold the text. Other signals do. */
function beyondCtrlC(signal: AbortSignal): AbortSignal {
  const stop = new AbortController();
  signal.addEventListener("abort", () => {
    const { reason } = signal;
    if (!(reason instanceof Interrupted) || reason.exitCode !== 130) stop.abort(reason);
  });
  return stop.signal;
}
