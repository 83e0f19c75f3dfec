import { AnsiScreen } from "../commands/see/screen/ansi-screen.ts";
import type { CommandIo } from "../commands/spec.ts";
import type { Display } from "./display.ts";
import { Renderer } from "./panes/renderer.tsx";
import { buildScreenModel, type ScreenInputs } from "./panes/screen-model.ts";
import { buildTerminalModes } from "./terminal/modes.ts";
import { ASK_TERMINAL, type PaintPace } from "./terminal/paint-pace.ts";

/** Shows the full screen, and writes only the cells that have changed. */
export class ScreenDisplay implements Display {
  readonly #io: CommandIo;
  readonly #pace: PaintPace;
  readonly #screen: AnsiScreen;
  readonly #renderer = new Renderer();

  /** Bytes that the current call of `show` has written. */
  #written = 0;

  constructor(io: CommandIo, pace: PaintPace, options: { mouse: boolean }) {
    this.#io = io;
    this.#pace = pace;
    const writeOutput = (text: string) => {
      this.#written += Buffer.byteLength(text);
      return io.writeOutput(text);
    };
    this.#screen = new AnsiScreen({ writeOutput, terminal: io.terminal }, buildTerminalModes(options));
  }

  begin(): void {
    if (this.#io.writeOutput(ASK_TERMINAL)) this.#pace.handleProbed();
    this.#screen.enter();
  }

  end(): void {
    this.#screen.leave();
  }

  show(app: ScreenInputs): boolean {
    const lines = this.#renderer.renderLines(app.theme, buildScreenModel(app));
    this.#written = 0;
    const finished = lines.map(app.theme.finishLine);
    if (!this.#screen.paint(finished, this.#pace.partLength)) return false;
    return (this.#written === 0 && !this.#pace.needsQuestion) || this.#askTerminal();
  }

  get isComplete(): boolean {
    return this.#screen.isComplete;
  }

  #askTerminal(): boolean {
    if (!this.#pace.asks) {
      this.#pace.handleUnasked();
      return true;
    }
    this.#pace.handleAsked(this.#written);
    return this.#io.writeOutput(ASK_TERMINAL);
  }

  forget(): void {
    this.#screen.forget();
  }
}
