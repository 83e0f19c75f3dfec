import { EventEmitter } from "node:events";
import { type Instance, render, Text } from "ink";
import type { ScreenFrame } from "./panes/frame.ts";
import { Screen } from "./panes/Screen.tsx";

/** The screen, or a message why it cannot be shown. */
export type FrameOrMessage = ScreenFrame | { screen: { width: number; height: number }; message: string };

/**
 * Renders components to lines with Ink. Ink does not write to the terminal here, but to a string: it would clear the
 * terminal for every frame as high as the terminal, read keys in its own way, and end with the process.
 */
export class Renderer {
  readonly #sink = new CaptureStream();
  #instance: Instance | undefined;

  /** Renders a frame to lines. */
  renderLines(sheet: FrameOrMessage): string[] {
    const { width: columns, height: rows } = sheet.screen;
    const isOther = this.#sink.columns !== columns || this.#sink.rows !== rows;
    Object.assign(this.#sink, { columns, rows });
    if (isOther) this.#sink.emit("resize");
    const node = "message" in sheet ? <Text>{sheet.message}</Text> : <Screen frame={sheet} />;
    if (this.#instance === undefined) this.#instance = this.#mount(node);
    else this.#instance.rerender(node);
    return this.#sink.text.split("\n").slice(0, rows);
  }

  end(): void {
    this.#instance?.unmount();
  }

  #mount(node: React.ReactNode): Instance {
    return render(node, {
      stdout: this.#sink as unknown as NodeJS.WriteStream,
      stdin: new SilentInput() as unknown as NodeJS.ReadStream,
      stderr: new CaptureStream() as unknown as NodeJS.WriteStream,
      // Writes every frame as a whole and at once, without comparing it with the one before.
      debug: true,
      interactive: true,
      exitOnCtrlC: false,
      patchConsole: false,
    });
  }
}

/** Replaces the terminal: keeps the last frame. */
class CaptureStream extends EventEmitter {
  columns = 80;
  rows = 24;
  text = "";
  readonly isTTY = true;
  write = (text: string): boolean => {
    this.text = text;
    return true;
  };
}

/** Replaces the keyboard. */
class SilentInput extends EventEmitter {
  readonly isTTY = false;
}
