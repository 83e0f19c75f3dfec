import type { ConsoleFlags } from "../cli/commands/see/console.ts";
import type { Call, CommandIo } from "../cli/frame/command.ts";
import type { CommandContext } from "../cli/frame/store-command.ts";
import { LONG_AGO, subtractTime } from "../core/base/clock.ts";
import { EXIT, getErrorMessage } from "../core/base/errors.ts";
import { act, dispatch } from "./actions/handlers.tsx";
import { isSimpleTerminal } from "./alerts.ts";
import { ConsoleApp } from "./console-app.ts";
import { type OpenedContext, openContext } from "./data/context-list.ts";
import { type Display, PlainDisplay, ScreenDisplay } from "./display.tsx";
import type { TabId } from "./state/console-state.ts";
import type { InputEvent, TerminalReport } from "./terminal/input-event.ts";
import { createKeyReader } from "./terminal/input-parser.ts";
import {
  discardAnswers,
  type QuerySubjects,
  ShownQuery,
  type TerminalLoan,
  TerminalQuery,
  TerminalSession,
} from "./terminal/terminal-session.ts";
import { TtyWriter } from "./terminal/tty-writer.ts";
import { dependsOnBackground, mayHaveMoreColours } from "./theme/theme.ts";

/** Interval for repainting, ms, because displayed ages grow. @see ConsoleApp.isStill */
const REPAINT_INTERVAL_MS = 1_000;
/**
 * How long the first frame waits for data, ms. A frame without data takes as long to build, and would be replaced at
 * once.
 */
const FIRST_DATA = 700;

/** Time without a key after which less is written, ms. The next key brings everything up to date. */
const QUIET_AFTER_MS = 10_000;

/** Runs the console on a terminal. */
export class InteractiveConsole {
  readonly #io: CommandIo;
  /** The context with which the console was started. */
  readonly #first: OpenedContext;
  #context: CommandContext;
  #app: ConsoleApp;
  /** The last switch to another context. The next one starts when it has ended. */
  #switch = Promise.resolve();
  readonly #display: Display;
  readonly #terminal: TerminalSession;
  /** Undefined if the terminal cannot be opened for it: writes then block until the terminal accepts them. */
  readonly #writer: TtyWriter | undefined;
  readonly #shownQuery: ShownQuery;
  readonly #keys = createKeyReader(
    (event) => this.#guard(() => this.#handleInput(event)),
    (report) => this.#handleReport(report),
  );
  /** Undefined if the terminal would not understand queries, and for plain lines. */
  readonly #query: TerminalQuery | undefined;
  /** How often the console has taken the terminal. */
  #screens = 0;
  #isAnswerExpected = false;
  /** Rings the terminal's bell, which every terminal understands. */
  readonly #ringBell: () => void;
  readonly #ended = Promise.withResolvers<number>();
  #isDue = false;
  /** Whether the first frame still waits for data. */
  #isHeld = true;
  #lastKeyAt = LONG_AGO;

  constructor(
    call: Call<ConsoleFlags>,
    around: CommandIo,
    context: CommandContext,
    { view, loan }: { view: TabId | undefined; loan: TerminalLoan },
  ) {
    const endOnIoError = () => this.#ended.resolve(EXIT.io);
    const writer = TtyWriter.open({ onDrained: () => this.#repaint(), onGone: endOnIoError });
    const io = loan.wrapIo(
      writer === undefined ? around : { ...around, writeOutput: (text: string) => writer.write(text) },
    );
    this.#io = io;
    this.#writer = writer;
    this.#first = { call, context };
    const about = chooseSubjects(io.env);
    const asks = !call.flags.plain && Object.values(about).includes(true);
    if (asks) this.#query = this.#createTerminalQuery(io, about);
    this.#context = context;
    this.#shownQuery = new ShownQuery((text) => void io.writeOutput(text), { canAsk: !call.flags.plain });
    const onDefect = (error: unknown) => this.#ended.reject(error);
    this.#display = call.flags.plain
      ? new PlainDisplay(io, { onDefect })
      : new ScreenDisplay(io, { mouse: context.settings.mouse, scheme: about.background, onDefect });
    this.#app = this.#createApp({ call, context });
    if (view !== undefined) this.#app.update((state) => ({ ...state, tab: view }));
    this.#ringBell = () => {
      if (context.settings.notify) io.writeOutput("\x07");
    };
    this.#terminal = this.#createTerminalSession(io, loan);
  }

  #createApp({ call, context }: OpenedContext): ConsoleApp {
    return new ConsoleApp({
      call,
      io: this.#io,
      context,
      first: this.#first,
      getColours: () => this.#query,
      repaint: () => this.#repaint(),
      suspend: () => this.#terminal.suspend(),
      lendTerminal: (use) => this.#terminal.lend(use),
      switchContext: (name) => {
        this.#switch = this.#switch.then(() => this.#switchContext(name));
      },
      act,
      redraw: () => this.#display.forget(),
      getIsQuiet: () => this.#isQuiet,
      getScreenNumber: () => this.#screens,
      runWhenShown: (action) => this.#shownQuery.add(() => this.#guard(action)),
      onFirstRead: () => this.#releasePaint(),
      quit: () => {
        this.#keys.end(); // ignores input after the key that quits
        this.#ended.resolve(EXIT.ok);
      },
    });
  }

  /**
   * Shows another context. If it cannot be used, the current one stays. If its cluster does not answer, it is shown
   * nevertheless.
   */
  async #switchContext(name: string | undefined): Promise<void> {
    try {
      const opened = await openContext(this.#first, this.#io, name);
      const before = this.#app;
      this.#app = this.#createApp(opened);
      this.#app.update((state) => ({ ...state, tab: before.state.tab }));
      this.#context = opened.context;
      const kept = this.#endApp(before);
      for (const path of kept) this.#app.log.add(`your text is kept in ${path}`);
      before.context.store.close();
      this.#app.begin();
      this.#display.forget();
    } catch (error) {
      this.#app.showToast(getErrorMessage(error), "problem");
      this.#app.log.add(getErrorMessage(error));
    } finally {
      this.#repaint();
    }
  }

  /** Ends the views of a cluster, and stores the preferences. @returns the files of texts that were not stored */
  #endApp(app: ConsoleApp): string[] {
    app.overlays.closeAll();
    app.end();
    app.savePreferences();
    return app.drafts.end();
  }

  /** Runs until the user leaves it or the process ends. @returns the exit code */
  async run(): Promise<number> {
    const leave = () => this.#terminal.leave();
    // Restores the terminal however the process ends: its messages must appear on the user's own screen.
    process.prependListener("exit", leave);
    process.prependListener("uncaughtException", leave);
    process.prependListener("unhandledRejection", leave);
    const tick = setInterval(() => {
      if (!this.#app.isStill) this.#repaint();
    }, REPAINT_INTERVAL_MS);
    const patience = setTimeout(() => this.#releasePaint(), FIRST_DATA);
    this.#context.signal.addEventListener("abort", () => this.#ended.reject(this.#context.signal.reason));
    try {
      this.#terminal.enter();
      this.#app.begin();
      this.#repaint();
      return await this.#ended.promise;
    } finally {
      clearInterval(tick);
      clearTimeout(patience);
      await this.#query?.end();
      leave(); // first: all later messages are for the user's own screen
      for (const path of this.#endApp(this.#app)) this.#io.writeMessage(`your text is kept in ${path}`);
    }
  }

  #createTerminalQuery(io: CommandIo, about: QuerySubjects): TerminalQuery {
    const ports = {
      write: (text: string) => void io.writeOutput(text),
      onChange: () => this.#repaint(),
      onKeyboard: () => {
        this.#keys.expectCodedKeys();
        this.#display.enableCodedKeys?.();
        this.#repaint();
      },
      onExpecting: (isExpected: boolean) => {
        this.#isAnswerExpected = isExpected;
        this.#updateExpectation();
      },
    };
    return new TerminalQuery(ports, { about });
  }

  /**
   * Tells the key reader whether an answer is due. An Escape may then begin the answer, so the reader waits longer for
   * the rest.
   */
  #updateExpectation(): void {
    this.#keys.expectReport(this.#isAnswerExpected || this.#shownQuery.missingAnswers > 0);
  }

  #createTerminalSession(io: CommandIo, loan: TerminalLoan): TerminalSession {
    return new TerminalSession({ io, loan }, process.stdin, {
      onBytes: (bytes) => this.#keys.feed(bytes),
      onResize: () => this.#repaint(),
      onTaken: () => {
        this.#screens += 1;
        this.#display.begin();
        this.#query?.ask();
        this.#shownQuery.ask([]); // before any frame, so that a slow line is not taken for a terminal that never answers
        this.#updateExpectation();
        this.#repaint();
      },
      onGiven: () => {
        this.#display.suspend?.();
        this.#writer?.flush();
        this.#shownQuery.forget(discardAnswers(this.#shownQuery.missingAnswers));
      },
      onLeft: () => this.#display.end(),
      onNotStopped: () => this.#app.showToast("this console was not started by a shell", "problem"),
      onGone: () => this.#ended.resolve(EXIT.io),
    });
  }

  #releasePaint(): void {
    this.#isHeld = false;
    this.#repaint();
  }

  get #isQuiet(): boolean {
    return subtractTime(this.#context.clock.now(), this.#lastKeyAt) >= QUIET_AFTER_MS;
  }

  /** Schedules one repaint for all changes in one turn of the event loop. */
  #repaint(): void {
    if (this.#isDue || this.#isHeld) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      if (this.#terminal.isOn) this.#guard(() => this.#paint());
    });
  }

  #handleInput(event: InputEvent): void {
    if (this.#isDue || this.#writer?.isClogged) this.#catchUpWithKeys();
    dispatch(this.#app, event, (mouse) => this.#display.handleMouse?.(mouse));
    if (this.#isQuiet) this.#app.catchUp(); // after the event: a click is meant for the displayed rows
    this.#lastKeyAt = this.#context.clock.now();
    if (this.#app.overlays.top !== undefined) this.#repaint(); // overlays do not report changes of their own state
  }

  /** Applies the effects of earlier keys, so that a key acts on them even if the terminal has not shown them yet. */
  #catchUpWithKeys(): void {
    this.#app.refreshDerivedState();
    const hasOverlay = this.#app.overlays.top !== undefined;
    if (hasOverlay && this.#terminal.isOn && !this.#isHeld) this.#display.show(this.#app);
  }

  #handleReport(report: TerminalReport): void {
    if (report.of !== "status") return this.#query?.takeReport(report);
    this.#shownQuery.takeAnswer();
    this.#updateExpectation();
  }

  #paint(): void {
    if (this.#writer?.isClogged) return; // repainted once the terminal has accepted the pending output
    const news = this.#app.noticeChanges();
    if (news !== undefined) this.#ringBell();
    const start = this.#context.clock.now();
    this.#app.refreshDerivedState();
    this.#app.frames.isDue = true; // times have passed
    if (!this.#display.show(this.#app)) this.#ended.resolve(EXIT.io);
    this.#app.handleFrameBuilt(subtractTime(this.#context.clock.now(), start));
    if (this.#shownQuery.isWanted) void this.#askWhetherShown();
  }

  async #askWhetherShown(): Promise<void> {
    await this.#display.waitUntilWritten?.();
    if (!this.#terminal.isOn || !this.#shownQuery.isWanted) return;
    this.#shownQuery.ask();
    this.#updateExpectation();
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

/** Chooses what to ask a terminal for: what it may answer, and the theme or the keys depend on. */
function chooseSubjects(env: CommandIo["env"]): QuerySubjects {
  const keyboard = !isSimpleTerminal(env.TERM);
  const colours = keyboard && mayHaveMoreColours(env);
  return { keyboard, colours, background: colours || dependsOnBackground(env) };
}
