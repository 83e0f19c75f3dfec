import { EventEmitter } from "node:events";
import { type Instance, render, renderToString, type TerminalSuspension, useApp } from "ink";
import { type ReactNode, useLayoutEffect } from "react";
import { unload } from "signal-exit";
import type { CommandIo } from "../cli/frame/command.ts";
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

/** Maximum number of frames per second. A second key within the time of a frame waits for the next frame. */
const MOST_FRAMES = 60;

interface TreePorts {
  getSize: CommandIo["terminal"]["getSize"];
  /** Whether cells that the terminal erases get the current background. */
  hasErasedGround: boolean;
  /** @returns false if the output is closed */
  write(text: string): boolean;
  /** Called when a component has failed and the others cannot continue without it. */
  onDefect(error: unknown): void;
}

/** Shows components on the alternate screen of the terminal. Ink writes only changes. */
export class ComponentTree {
  readonly #content: ReactNode;
  readonly #output: TerminalOutput;
  readonly #onDefect: TreePorts["onDefect"];
  #mounted: { instance: Instance; app: ConsoleApp; root: ReactNode } | undefined;
  #suspendTerminal: (() => Promise<TerminalSuspension>) | undefined;
  #suspension: TerminalSuspension | undefined;

  constructor(content: ReactNode, { onDefect, ...output }: TreePorts) {
    this.#content = content;
    this.#onDefect = onDefect;
    this.#output = new TerminalOutput(output);
  }

  /** Renders what a new frame changes, and overlays whose own state has changed. @returns false if the output is closed */
  render(app: ConsoleApp): boolean {
    const isResized = this.#output.updateSize();
    if (this.#output.updateTheme(app.theme) || isResized) this.clear();
    this.#output.links = app.links;
    setColourDepth(app.theme);
    const hasNews = app.frames.publish();
    if (this.#mounted?.app !== app) this.#show(app);
    else if (hasNews || this.#output.isToClear || app.overlays.top)
      this.#mounted.instance.rerender(this.#mounted.root);
    void this.#suspension?.resume(); // at once; what is awaited is that the frame is written
    this.#suspension = undefined;
    if (isResized) this.#output.emit("resize");
    return !this.#output.isClosed;
  }

  #show(app: ConsoleApp): void {
    const root = (
      <ConsoleContext value={app}>
        <SuspensionAccess
          onReady={(suspendTerminal) => {
            this.#suspendTerminal = suspendTerminal;
          }}
        />
        {this.#content}
      </ConsoleContext>
    );
    const instance = this.#mounted?.instance ?? this.#mount(root);
    if (this.#mounted !== undefined) instance.rerender(root);
    this.#mounted = { instance, app, root };
  }

  /** Resolves when the last rendered frame has been written. */
  async waitUntilWritten(): Promise<void> {
    await this.#mounted?.instance.waitUntilRenderFlush();
  }

  /** Discards the knowledge of the screen: the next frame is written as a whole, on a cleared screen. */
  clear(): void {
    this.#output.isDiscarding = true; // Ink would erase the last frame at once, long before it writes the next one
    this.#mounted?.instance.clear();
    this.#output.isDiscarding = false;
    this.#output.isToClear = true;
  }

  /** Gives the terminal back until the next frame. The components keep what they know, such as typed texts. */
  suspend(): void {
    this.clear();
    void this.#suspendTerminal?.().then((suspension) => {
      this.#suspension = suspension;
    });
  }

  /** Ends the components, after `suspend`. */
  end(): void {
    this.#output.isDiscarding = true;
    this.#mounted?.instance.unmount();
    this.#mounted = undefined;
    unload(); // Ink's exit hook would write to standard error, which may be a file, or a terminal that is stopped
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

/** Passes on how Ink gives the terminal back: only components learn it. */
function SuspensionAccess({
  onReady,
}: {
  onReady(suspendTerminal: () => Promise<TerminalSuspension>): void;
}) {
  const { suspendTerminal } = useApp();
  useLayoutEffect(() => onReady(suspendTerminal));
  return null;
}

export function renderLines(content: ReactNode, app: ConsoleApp): string[] {
  const { width: columns, height } = app.getScreenSize();
  setColourDepth(app.theme);
  const root = <ConsoleContext value={app}>{content}</ConsoleContext>;
  return renderToString(root, { columns }).split("\n").slice(0, height);
}

/** The output stream to which Ink writes. */
class TerminalOutput extends EventEmitter {
  readonly isTTY = true;
  columns = 0;
  rows = 0;
  isClosed = false;
  isDiscarding = false;
  /** Whether to clear the screen before the next frame, because its content is unknown or has another background. */
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

  /** @returns whether cells without their own colours look different now */
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

/** The input stream of Ink. It is silent, because the console reads keys itself. */
class SilentInput extends EventEmitter {
  readonly isTTY = false;
}
