import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { EXIT, SignalboxError } from "../../core/base/errors.ts";
import type { CommandIo } from "./command.ts";
import { openUserEditor } from "./open-external-program.ts";
import { type ActionOutcome, addAdvice, createAbandonedOutcome } from "./outcome.ts";
import { type ActionContext, InterruptedError } from "./store-command.ts";

type ParsedText<T> = { value: T } | { faults: readonly string[] };

interface EditableText<T> {
  text: string;
  /** Of the file; editors choose by it how to show the text. */
  name?: string;
  /** @param path  the file of the text. @returns the value, or the faults of the text, one sentence each */
  parse(text: string, path: string): ParsedText<T> | Promise<ParsedText<T>>;
  apply(value: T): Promise<ActionOutcome>;
  /** Whether the text is no longer needed after this outcome. */
  isSettled(outcome: ActionOutcome): boolean;
  /** Describes how to use a text that was kept. @param path  its file */
  describeNextStep?(path: string): string;
}

/**
 * Opens a text in the user's editor, and again if it has faults. The file is kept unless its text is no longer needed.
 * @throws SignalboxError if the editor fails; as `apply`
 */
export async function editText<T>(context: ActionContext, editable: EditableText<T>): Promise<ActionOutcome> {
  const { text, name, parse, apply, isSettled } = editable;
  const sheet = new EditorFile(text, name);
  /** Deletes the file if the user has typed nothing. @returns where it is kept otherwise */
  const close = () => {
    if (sheet.isChanged)
      return [`your text is kept in ${sheet.path}`].concat(editable.describeNextStep?.(sheet.path) ?? []);
    sheet.discard();
    return [];
  };
  try {
    for (;;) {
      await openEditor(context.io, sheet, ignoreCtrlC(context.signal));
      const parsed = await parse(sheet.read(), sheet.path);
      if ("value" in parsed) {
        const outcome = await apply(parsed.value);
        if (isSettled(outcome)) sheet.discard();
        return addAdvice(outcome, close());
      }
      for (const fault of parsed.faults) context.printMessage(fault);
      if (context.flags.yes || !(await askEditAgain(context.io)))
        return addAdvice(createAbandonedOutcome(), close());
    }
  } catch (error) {
    for (const line of close()) context.printMessage(line);
    throw error;
  }
}

async function openEditor(io: CommandIo, sheet: EditorFile, signal: AbortSignal): Promise<void> {
  const end = await openUserEditor(io, sheet, signal);
  signal.throwIfAborted();
  if (!end.ok) throw new SignalboxError(EXIT.undone, `nothing was changed: ${end.why}`);
}

async function askEditAgain({ terminal }: CommandIo): Promise<boolean> {
  const answer = await terminal.ask("Edit again? [Y/n] ");
  return answer !== undefined && !/^n/i.test(answer.trim());
}

/** A text in a private file for an editor. Other users can neither read nor replace the file. */
export class EditorFile {
  readonly path: string;
  readonly #first: string;
  #isGone = false;

  /** @param name  of the file; editors choose by it how to show the text */
  constructor(text: string, name = "signalbox.json") {
    this.path = join(mkdtempSync(join(tmpdir(), "signalbox-")), name); // the folder has mode 0700
    this.#first = text;
    writeFileSync(this.path, text, { mode: 0o600, flag: "wx" });
  }

  /** Reads the current text; the first text if the file cannot be read. */
  read(): string {
    try {
      return readFileSync(this.path, "utf8");
    } catch {
      return this.#first;
    }
  }

  /** Whether the user has changed the text. */
  get isChanged(): boolean {
    return !this.#isGone && this.read() !== this.#first;
  }

  discard(): void {
    this.#isGone = true;
    rmSync(dirname(this.path), { recursive: true, force: true });
  }
}

/**
 * Ignores Ctrl+C, which belongs to the editor: the process must not end, or the text would be lost. Other signals
 * abort.
 */
export function ignoreCtrlC(signal: AbortSignal): AbortSignal {
  const stop = new AbortController();
  signal.addEventListener("abort", () => {
    const { reason } = signal;
    if (!(reason instanceof InterruptedError) || reason.exitCode !== 130) stop.abort(reason);
  });
  return stop.signal;
}
