import { AnsiScreen } from "../commands/see/ansi-screen.ts";
import type { CommandIo } from "../commands/spec.ts";
import type { App } from "./app.ts";
import type { Display } from "./display.ts";
import { buildFrame } from "./panes/frame.ts";
import { Renderer } from "./renderer.tsx";
import { buildTerminalModes } from "./terminal/modes.ts";

/** Shows the full screen, and writes only the lines that have changed. */
export class ScreenDisplay implements Display {
  readonly #screen: AnsiScreen;
  readonly #renderer = new Renderer();

  constructor(io: CommandIo, options: { mouse: boolean }) {
    this.#screen = new AnsiScreen(io, buildTerminalModes(options));
  }

  begin(): void {
    this.#screen.enter();
  }

  end(): void {
    this.#screen.leave();
  }

  show(app: App): boolean {
    const { finishLine } = app.theme;
    return this.#screen.paint(this.#renderer.renderLines(buildFrame(app)).map(finishLine));
  }

  forget(): void {
    this.#screen.forget();
  }
}
