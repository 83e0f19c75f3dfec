import { EventEmitter } from "node:events";
import { type Instance, render, renderToString } from "ink";
import type { ReactNode } from "react";
import { unload } from "signal-exit";
import type { CommandIo } from "../commands/command.ts";
import type { ConsoleApp } from "./console-app.ts";
import { ConsoleContext } from "./context.tsx";
import type { FileLinks } from "./file-links.ts";
import {
  CLEAR_SCREEN,
  OWN_COLOURS,
  paintBase,
  shortenOutput,
  writesCells,
} from "./terminal/output-sequences.ts";
import { setColourDepth, type Theme } from "./theme/theme.ts";

/** Pictures per second. A second key within this time waits for the next picture. */
const MOST_FRAMES = 60;

interface TreePorts {
  getSize: CommandIo["terminal"]["getSize"];
  /** Whether cells that the terminal erases get the present ground. */
  hasErasedGround: boolean;
  /** @returns false if the output is closed */
  write(text: string): boolean;
  /** A component failed in a way that the other components cannot go on without it. */
  onDefect(error: unknown): void;
}

/** Components that Ink shows on the alternate screen of the terminal, and of which it writes only what has changed. */
export class ComponentTree {
  readonly #content: ReactNode;
  readonly #output: TerminalOutput;
  readonly #onDefect: TreePorts["onDefect"];
  #mounted: { instance: Instance; root: ReactNode } | undefined;

  constructor(content: ReactNode, { onDefect, ...output }: TreePorts) {
    this.#content = content;
    this.#onDefect = onDefect;
    this.#output = new TerminalOutput(output);
  }

  /** Renders everything again. @returns false if the output is closed */
  render(app: ConsoleApp): boolean {
    const isResized = this.#output.updateSize();
    if (this.#output.updateTheme(app.theme) || isResized) this.clear();
    this.#output.links = app.links;
    setColourDepth(app.theme);
    const root = <ConsoleContext value={{ app }}>{this.#content}</ConsoleContext>;
    if (this.#mounted === undefined) this.#mounted = { instance: this.#mount(root), root };
    else {
      this.#mounted.root = root;
      this.flush();
    }
    if (isResized) this.#output.emit("resize");
    return !this.#output.isClosed;
  }

  /** Renders the components whose own state has changed, before it returns. */
  flush(): void {
    this.#mounted?.instance.rerender(this.#mounted.root);
  }

  /** Resolves when what was rendered last is written. */
  async waitUntilWritten(): Promise<void> {
    await this.#mounted?.instance.waitUntilRenderFlush();
  }

  /** Forgets what is on the screen: the next picture is written as a whole, on a cleared screen. */
  clear(): void {
    this.#output.isDiscarding = true; // Ink would erase the last picture now, long before the next one is written
    this.#mounted?.instance.clear();
    this.#output.isDiscarding = false;
    this.#output.isToClear = true;
  }

  unmount(): void {
    this.#mounted?.instance.unmount();
    this.#mounted = undefined;
    unload(); // what Ink has registered for the exit writes to standard error, which may be a file, or a terminal that is stopped
  }

  #mount(root: ReactNode): Instance {
    this.#output.isToClear = true;
    const instance = render(root, {
      stdout: this.#output as unknown as NodeJS.WriteStream,
      stdin: new SilentInput() as unknown as NodeJS.ReadStream,
      alternateScreen: true,
      incrementalRendering: true,
      maxFps: MOST_FRAMES,
      interactive: true,
      exitOnCtrlC: false,
      patchConsole: false,
    });
    instance.waitUntilExit().catch(this.#onDefect);
    return instance;
  }
}

/** Renders components to lines. */
export function renderLines(content: ReactNode, app: ConsoleApp): string[] {
  const { width: columns, height } = app.getScreenSize();
  setColourDepth(app.theme);
  const root = <ConsoleContext value={{ app }}>{content}</ConsoleContext>;
  return renderToString(root, { columns }).split("\n").slice(0, height);
}

/** The terminal as Ink writes to it. */
class TerminalOutput extends EventEmitter {
  readonly isTTY = true;
  columns = 0;
  rows = 0;
  isClosed = false;
  isDiscarding = false;
  /** Whether the screen is cleared before the next picture: nothing is known of it, or its cells have another ground. */
  isToClear = true;
  links: FileLinks | undefined;
  #theme: Pick<Theme, "finishLine" | "base"> | undefined;
  readonly #ports: Omit<TreePorts, "onDefect">;

  constructor(ports: Omit<TreePorts, "onDefect">) {
    super();
    this.#ports = ports;
    Object.assign(this, ports.getSize());
  }

  write = (text: string, onWritten?: () => void): boolean => {
    const isWritten = text === "" || this.isDiscarding || this.#ports.write(this.#finish(text));
    if (!isWritten) this.isClosed = true;
    onWritten?.();
    return true;
  };

  #finish(text: string): string {
    const { hasErasedGround } = this.#ports;
    if (this.#theme === undefined || !writesCells(text)) return text;
    const { finishLine, base } = this.#theme;
    const start = this.isToClear ? CLEAR_SCREEN : "";
    this.isToClear = false;
    const ground = hasErasedGround ? base.ground : OWN_COLOURS.ground;
    const painted = paintBase(start + finishLine(text), { ...base, ground });
    const short = shortenOutput(painted, hasErasedGround);
    return this.links?.link(short) ?? short;
  }

  /** @returns whether cells without colours of their own get others than before */
  updateTheme(theme: Pick<Theme, "finishLine" | "base">): boolean {
    const isOther = this.#theme !== undefined && this.#theme.base !== theme.base;
    this.#theme = theme;
    return isOther;
  }

  /** @returns whether the terminal has another size than before */
  updateSize(): boolean {
    const { columns, rows } = this.#ports.getSize();
    const isOther = columns !== this.columns || rows !== this.rows;
    Object.assign(this, { columns, rows });
    return isOther;
  }
}

/** Replaces the keyboard: the console reads keys itself. */
class SilentInput extends EventEmitter {
  readonly isTTY = false;
}
