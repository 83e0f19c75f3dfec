import { cleanToWidth } from "../base/display-width.ts";
import { EXIT } from "../base/errors.ts";
import type { Call, CommandIo } from "../commands/spec.ts";
import type { CommandContext } from "../commands/store-command.ts";
import { dispatch } from "./actions/dispatch.ts";
import { AlertNotifier } from "./alerts/alert-notifier.ts";
import type { ConsoleApp } from "./console-app.ts";
import { createConsoleApp, savePreferences } from "./create-console-app.ts";
import type { Display } from "./display.ts";
import { offerTour } from "./overlays/tour/tour-overlay.ts";
import { PlainDisplay } from "./plain-display.ts";
import { ScreenDisplay } from "./screen-display.ts";
import type { TabId } from "./state/console-state.ts";
import { isFirstUse } from "./state/preferences-file.ts";
import type { InputEvent } from "./terminal/input/event.ts";
import { createKeyReader } from "./terminal/input/reader.ts";
import { chooseChannels } from "./terminal/notification.ts";
import { TerminalSession } from "./terminal/terminal-session.ts";
import { TtyWriter } from "./terminal/tty-writer.ts";

/** Interval for repainting, ms, because displayed ages grow. */
const TICK = 1_000;

/** Runs the console on a terminal until the user leaves it or the process ends. @returns the exit code */
export async function runInteractiveConsole(
  call: Call,
  io: CommandIo,
  context: CommandContext,
  view: TabId | undefined,
): Promise<number> {
  return await new InteractiveConsole(call, io, context, view).run();
}

class InteractiveConsole {
  readonly #context: CommandContext;
  readonly #app: ConsoleApp;
  readonly #display: Display;
  readonly #terminal: TerminalSession;
  /** Undefined if the terminal cannot be opened for it: writes then block until the terminal accepts them. */
  readonly #writer: TtyWriter | undefined;
  readonly #keys = createKeyReader((event) => this.#guard(() => this.#handleInput(event)));
  readonly #notifier: AlertNotifier;
  /** Whether to offer the tour. Plain lines have no parts to show. */
  readonly #isNewcomer: boolean;
  readonly #ended = Promise.withResolvers<number>();
  #isDue = false;

  constructor(call: Call, around: CommandIo, context: CommandContext, view: TabId | undefined) {
    const endOnIoError = () => this.#ended.resolve(EXIT.io);
    const writer = TtyWriter.open({ onDrained: () => this.#repaint(), onGone: endOnIoError });
    const io =
      writer === undefined ? around : { ...around, writeOutput: (text: string) => writer.write(text) };
    this.#writer = writer;
    this.#context = context;
    this.#display = call.flags.plain
      ? new PlainDisplay(io)
      : new ScreenDisplay(io, { mouse: context.settings.mouse });
    this.#app = createConsoleApp({
      ...{ call, io, context },
      repaint: () => this.#repaint(),
      suspend: () => this.#terminal.suspend(),
      redraw: () => this.#display.forget(),
      quit: (code) => {
        this.#keys.end(); // ignores input after the key that quits
        this.#ended.resolve(code);
      },
    });
    if (view !== undefined) this.#app.update((state) => ({ ...state, tab: view }));
    this.#notifier = new AlertNotifier((text) => void io.writeOutput(text), {
      channels: chooseChannels(context.settings.notify, io.env.TERM, call.flags.plain === true),
      name: cleanToWidth(context.settings.prefix, 40),
      sign: this.#app.theme.signs.marks.held,
    });
    this.#isNewcomer = call.flags.plain !== true && isFirstUse(io);
    this.#terminal = this.#createTerminalSession(io);
  }

  async run(): Promise<number> {
    const leave = () => this.#terminal.leave();
    // Restores the terminal however the process ends: its messages must appear on the user's own screen.
    process.prependListener("exit", leave);
    process.prependListener("uncaughtException", leave);
    process.prependListener("unhandledRejection", leave);
    const tick = setInterval(() => this.#repaint(), TICK);
    this.#context.signal.addEventListener("abort", () => this.#ended.reject(this.#context.signal.reason));
    try {
      this.#terminal.enter();
      this.#app.begin();
      if (this.#isNewcomer) offerTour(this.#app, (event) => dispatch(this.#app, event));
      this.#repaint();
      return await this.#ended.promise;
    } finally {
      clearInterval(tick);
      leave(); // first: all later messages are for the user's own screen
      this.#app.end();
      savePreferences(this.#app);
    }
  }

  #createTerminalSession(io: CommandIo): TerminalSession {
    return new TerminalSession(io, process.stdin, {
      onBytes: (bytes) => this.#keys.feed(bytes),
      onResize: () => this.#repaint(),
      onTaken: () => {
        this.#display.begin();
        this.#repaint();
      },
      onGiven: () => {
        this.#notifier.restoreTitle();
        this.#display.end();
        this.#writer?.flush();
      },
      onNotStopped: () => this.#app.showToast("this console was not started by a shell", "problem"),
      onGone: () => this.#ended.resolve(EXIT.io),
    });
  }

  #handleInput(event: InputEvent): void {
    this.#notifier.restoreTitle();
    dispatch(this.#app, event);
  }

  /** Schedules one repaint for all changes in one turn of the event loop. */
  #repaint(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      if (this.#terminal.isOn) this.#guard(() => this.#paint());
    });
  }

  #paint(): void {
    if (this.#writer?.isClogged) return; // repainted once the terminal has accepted the pending output
    const news = this.#app.noticeChanges();
    if (news !== undefined) this.#notifier.notify(news);
    this.#app.refreshDerivedState();
    if (!this.#display.show(this.#app)) this.#ended.resolve(EXIT.io);
  }

  /** Runs `work`. A defect ends the console, and is reported after the screen is restored. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#ended.reject(error);
    }
  }
}
