import { cleanToWidth } from "../base/display-width.ts";
import { EXIT } from "../base/errors.ts";
import type { ConsoleFlags } from "../commands/see/console.ts";
import type { Call, CommandIo } from "../commands/spec.ts";
import type { CommandContext } from "../commands/store-command.ts";
import { dispatch } from "./actions/dispatch.ts";
import { AlertNotifier, chooseChannels } from "./alerts.ts";
import { ConsoleApp } from "./console-app.ts";
import { type OpenedContext, openContext } from "./data/context-list.ts";
import { type Display, PlainDisplay, ScreenDisplay } from "./display.ts";
import type { TabId } from "./state/console-state.ts";
import { BackgroundQuery } from "./terminal/background-query.ts";
import type { InputEvent, TerminalReport } from "./terminal/input-event.ts";
import { createKeyReader } from "./terminal/input-parser.ts";
import { discardAnswers, PaintPace } from "./terminal/paint-pace.ts";
import type { TerminalLoan } from "./terminal/terminal-loan.ts";
import { TerminalSession } from "./terminal/terminal-session.ts";
import { TtyWriter } from "./terminal/tty-writer.ts";
import { dependsOnBackground } from "./theme/theme.ts";

/** Interval for repainting, ms, because displayed ages grow. */
const TICK = 1_000;
/** The first frame waits so long for data, ms: a frame without data would be replaced at once, and takes as long to build. */
const FIRST_DATA = 150;

/** Runs the console on a terminal until the user leaves it or the process ends. @returns the exit code */
export async function runInteractiveConsole(
  call: Call<ConsoleFlags>,
  io: CommandIo,
  context: CommandContext,
  { view, loan }: { view: TabId | undefined; loan: TerminalLoan },
): Promise<number> {
  return await new InteractiveConsole(call, io, context, { view, loan }).run();
}

class InteractiveConsole {
  readonly #io: CommandIo;
  /** As the console was started. */
  readonly #first: OpenedContext;
  #context: CommandContext;
  #app: ConsoleApp;
  #isSwitching = false;
  readonly #display: Display;
  readonly #terminal: TerminalSession;
  /** Undefined if the terminal cannot be opened for it: writes then block until the terminal accepts them. */
  readonly #writer: TtyWriter | undefined;
  readonly #pace: PaintPace;
  readonly #keys = createKeyReader(
    (event) => this.#guard(() => this.#handleInput(event)),
    (report) => this.#handleReport(report),
  );
  /** Undefined if no theme depends on it, and for plain lines. */
  readonly #background: BackgroundQuery | undefined;
  #isBackgroundExpected = false;
  readonly #notifier: AlertNotifier;
  readonly #ended = Promise.withResolvers<number>();
  #isDue = false;
  /** Whether the first frame still waits for data. */
  #isHeld = true;
  /** To run when the last frame is on the screen. */
  readonly #shownActions: (() => void)[] = [];
  /** Repaints when the terminal does not answer. */
  #unanswered: NodeJS.Timeout | undefined;

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
    if (!call.flags.plain && dependsOnBackground(io.env)) this.#background = this.#createBackgroundQuery(io);
    this.#context = context;
    this.#pace = new PaintPace(context.clock);
    this.#display = call.flags.plain
      ? new PlainDisplay(io)
      : new ScreenDisplay(io, this.#pace, { mouse: context.settings.mouse });
    this.#app = this.#createApp({ call, context });
    if (view !== undefined) this.#app.update((state) => ({ ...state, tab: view }));
    this.#notifier = new AlertNotifier((text) => void io.writeOutput(text), {
      channels: chooseChannels(context.settings.notify, io.env.TERM, call.flags.plain === true),
      name: cleanToWidth(context.settings.prefix, 40),
      sign: this.#app.theme.signs.marks.held,
    });
    this.#terminal = this.#createTerminalSession(io, loan);
  }

  #createApp({ call, context }: OpenedContext): ConsoleApp {
    return new ConsoleApp({
      call,
      io: this.#io,
      context,
      first: this.#first,
      getIsLight: () => this.#background?.isLight,
      repaint: () => this.#repaint(),
      suspend: () => this.#terminal.suspend(),
      lendTerminal: (use) => this.#terminal.lend(use),
      switchContext: (name) => void this.#switchContext(name),
      redraw: () => this.#display.forget(),
      getAgeStep: () => this.#pace.getAgeStep(),
      isLineSlow: () => this.#pace.isSlow,
      runWhenShown: (action) => this.#shownActions.push(action),
      onFirstRead: () => this.#releasePaint(),
      quit: (code) => {
        this.#keys.end(); // ignores input after the key that quits
        this.#ended.resolve(code);
      },
    });
  }

  /** Shows another context. If it cannot be used, the present one stays. If its cluster does not answer, it is shown all the same. */
  async #switchContext(name: string | undefined): Promise<void> {
    if (this.#isSwitching) return;
    this.#isSwitching = true;
    try {
      const opened = await openContext(this.#first, this.#io, name);
      const before = this.#app;
      this.#app = this.#createApp(opened);
      this.#context = opened.context;
      for (const { id } of before.jobs.running) before.jobs.interrupt(id);
      const kept = this.#endApp(before);
      for (const path of kept) this.#app.log.add(`your text is kept in ${path}`);
      before.context.store.close();
      this.#app.begin();
      this.#display.forget();
    } catch (error) {
      this.#app.showToast((error as Error).message, "problem");
      this.#app.log.add((error as Error).message);
    } finally {
      this.#isSwitching = false;
      this.#repaint();
    }
  }

  /** Ends what follows a cluster, and stores the preferences. @returns the files of texts that were not stored */
  #endApp(app: ConsoleApp): string[] {
    const [lowest] = app.overlays.all;
    if (lowest !== undefined) app.overlays.close(lowest);
    app.end();
    app.savePreferences();
    return app.drafts.end();
  }

  async run(): Promise<number> {
    const leave = () => this.#terminal.leave();
    // Restores the terminal however the process ends: its messages must appear on the user's own screen.
    process.prependListener("exit", leave);
    process.prependListener("uncaughtException", leave);
    process.prependListener("unhandledRejection", leave);
    const tick = setInterval(() => this.#repaint(), TICK);
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
      clearTimeout(this.#unanswered);
      await this.#background?.end();
      leave(); // first: all later messages are for the user's own screen
      for (const path of this.#endApp(this.#app)) this.#io.writeMessage(`your text is kept in ${path}`);
    }
  }

  #createBackgroundQuery(io: CommandIo): BackgroundQuery {
    return new BackgroundQuery({
      write: (text) => void io.writeOutput(text),
      onChange: () => this.#repaint(),
      onExpecting: (isExpected) => {
        this.#isBackgroundExpected = isExpected;
        this.#updateExpectation();
      },
    });
  }

  /** While an answer is due, its first byte is not taken for the Escape key so soon. */
  #updateExpectation(): void {
    this.#keys.expectReport(this.#isBackgroundExpected || this.#pace.owesAnswer);
  }

  #createTerminalSession(io: CommandIo, loan: TerminalLoan): TerminalSession {
    return new TerminalSession({ io, loan }, process.stdin, {
      onBytes: (bytes) => this.#keys.feed(bytes),
      onResize: () => this.#repaint(),
      onTaken: () => {
        this.#display.begin();
        this.#background?.ask();
        this.#repaint();
      },
      onGiven: () => {
        this.#notifier.restoreTitle();
        this.#display.end();
        this.#writer?.flush();
        discardAnswers(this.#pace.openQuestions);
        this.#pace.forget();
      },
      onNotStopped: () => this.#app.showToast("this console was not started by a shell", "problem"),
      onGone: () => this.#ended.resolve(EXIT.io),
    });
  }

  #releasePaint(): void {
    this.#isHeld = false;
    this.#repaint();
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
    this.#pace.handleKey();
    this.#notifier.restoreTitle();
    // A key acts on what the keys before it have led to, even if the terminal has not shown that yet.
    if (this.#isDue || this.#unanswered !== undefined) this.#app.refreshDerivedState();
    dispatch(this.#app, event);
  }

  #handleReport(report: TerminalReport): void {
    if (report.of !== "status") return this.#background?.takeReport(report);
    this.#pace.handleAnswer();
    this.#updateExpectation();
    if (this.#display.isComplete && this.#pace.hasArrived) this.#guard(() => this.#runShownActions());
    if (this.#unanswered !== undefined || !this.#display.isComplete || this.#pace.needsQuestion)
      this.#repaint();
  }

  #paint(): void {
    if (this.#writer?.isClogged) return; // repainted once the terminal has accepted the pending output
    clearTimeout(this.#unanswered);
    this.#unanswered = undefined;
    const wait = this.#pace.computeWait();
    if (wait > 0) {
      this.#unanswered = setTimeout(() => this.#repaint(), wait);
      return;
    }
    const news = this.#app.noticeChanges();
    if (news !== undefined) this.#notifier.notify(news);
    const start = this.#context.clock.now();
    this.#app.refreshDerivedState();
    if (!this.#display.show(this.#app)) this.#ended.resolve(EXIT.io);
    this.#app.handleFrameBuilt(this.#context.clock.now() - start);
    this.#updateExpectation();
    if (this.#pace.hasArrived && this.#display.isComplete) this.#runShownActions();
  }

  /** In another turn of the event loop: keys that have arrived already were typed before the frame was on the screen. */
  #runShownActions(): void {
    const actions = this.#shownActions.splice(0);
    if (actions.length > 0)
      setImmediate(() => {
        for (const action of actions) this.#guard(action);
      });
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
