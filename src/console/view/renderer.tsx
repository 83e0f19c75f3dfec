import { EventEmitter } from "node:events";
import { type Instance, render, Text } from "ink";
import type { Frame } from "../frame/frame.ts";
import { Screen } from "./screen.tsx";

/** What is to be seen: the screen, or why there is none. */
export type Sheet = Frame | { screen: { width: number; height: number }; message: string };

/**
 * Ink, which makes lines of components. It never sees the terminal: it clears all of it for every frame as high as the
 * terminal, reads keys in its own way, and ends with the process; here it writes into a string.
 */
export class Renderer {
  readonly #sink = new Sink();
  #instance: Instance | undefined;

  /** The lines of a frame. */
  lines(sheet: Sheet): string[] {
    const { width: columns, height: rows } = sheet.screen;
    const isOther = this.#sink.columns !== columns || this.#sink.rows !== rows;
    Object.assign(this.#sink, { columns, rows });
    if (isOther) this.#sink.emit("resize");
    const node = "message" in sheet ? <Text>{sheet.message}</Text> : <Screen frame={sheet} />;
    if (this.#instance === undefined) this.#instance = this.#begin(node);
    else this.#instance.rerender(node);
    return this.#sink.text.split("\n").slice(0, rows);
  }

  end(): void {
    this.#instance?.unmount();
  }

  #begin(node: React.ReactNode): Instance {
    return render(node, {
      stdout: this.#sink as unknown as NodeJS.WriteStream,
      stdin: new Silence() as unknown as NodeJS.ReadStream,
      stderr: new Sink() as unknown as NodeJS.WriteStream,
      // Every frame is written whole and at once, without looking at what was there before.
      debug: true,
      interactive: true,
      exitOnCtrlC: false,
      patchConsole: false,
    });
  }
}

/** In place of a terminal: keeps the last frame. */
class Sink extends EventEmitter {
  columns = 80;
  rows = 24;
  text = "";
  readonly isTTY = true;
  write = (text: string): boolean => {
    this.text = text;
    return true;
  };
}

/** In place of a keyboard. */
class Silence extends EventEmitter {
  readonly isTTY = false;
}
