import { AnsiScreen } from "../commands/see/ansi-screen.ts";
import type { CommandIo } from "../commands/spec.ts";
import type { Display } from "./display.ts";
import { buildScreenModel } from "./panes/models/screen-model.ts";
import { Renderer } from "./panes/renderer.tsx";
import type { ConsoleData } from "./parts/parts.ts";
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

  show(app: ConsoleData): boolean {
    const lines = this.#renderer.renderLines(app.theme, buildScreenModel(app));
    return this.#screen.paint(lines.map(app.theme.finishLine));
  }

  forget(): void {
    this.#screen.forget();
  }
}
