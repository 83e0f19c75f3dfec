import type { ConsoleFlags } from "../cli/commands/see/console.ts";
import type { Call, CommandIo } from "../cli/frame/command.ts";
import type { CommandContext } from "../cli/frame/store-command.ts";
import { LONG_AGO, type MonotonicTime, subtractTime } from "../core/base/clock.ts";
import { EXIT, getErrorMessage } from "../core/base/errors.ts";
import { releaseMemory } from "../core/process/release-memory.ts";
import { act, dispatch } from "./actions/handlers.tsx";
import { isSimpleTerminal } from "./alerts.ts";
import { ConsoleApp } from "./console-app.ts";
import { type OpenedContext, openContext } from "./data/context-list.ts";
import { isLive } from "./data/live-view.ts";
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

/** Time without a key after which less is written, and memory is given back, ms. The next key brings everything up to date. */
const QUIET_AFTER_MS = 10_000;

/** Runs the console on a terminal until the user leaves it or the process ends. @returns the exit code */
export async function runInteractiveConsole(
  call: Call<ConsoleFlags>,
  around: CommandIo,
  context: CommandContext,
  { view, loan }: { view: TabId | undefined; loan: TerminalLoan },
): Promise<number> {
  /** The last switch to another context. The next one starts when it has ended. */
  let lastSwitch = Promise.resolve();
  const keys = createKeyReader(
    (event) => guard(() => handleInput(event)),
    (report) => handleReport(report),
  );
  /** How often the console has taken the terminal. */
  let screens = 0;
  let isAnswerExpected = false;
  const ended = Promise.withResolvers<number>();
  let isDue = false;
  /** Whether the first frame still waits for data. */
  let isHeld = true;
  let lastKeyAt = LONG_AGO;
  /** When it was started, or a key was pressed; undefined if memory was given back since. */
  let lastUseAt: MonotonicTime | undefined = context.clock.now();
  const endOnIoError = () => ended.resolve(EXIT.io);
  /** Undefined if the terminal cannot be opened for it: writes then block until the terminal accepts them. */
  const writer = TtyWriter.open({ onDrained: () => repaint(), onGone: endOnIoError });
  const io = loan.wrapIo(
    writer === undefined ? around : { ...around, writeOutput: (text: string) => writer.write(text) },
  );
  /** The context with which the console was started. */
  const first = { call, context };
  const about = chooseSubjects(io.env);
  const asks = !call.flags.plain && Object.values(about).includes(true);
  /** Undefined if the terminal would not understand queries, and for plain lines. */
  const query = asks ? createTerminalQuery(io, about) : undefined;
  const shownQuery = new ShownQuery((text) => void io.writeOutput(text), { canAsk: !call.flags.plain });
  const onDefect = (error: unknown) => ended.reject(error);
  const display: Display = call.flags.plain
    ? new PlainDisplay(io, { onDefect })
    : new ScreenDisplay(io, { mouse: context.settings.mouse, scheme: about.background, onDefect });
  let app = createApp({ call, context });
  if (view !== undefined) app.update((state) => ({ ...state, tab: view }));
  /** Rings the terminal's bell, which every terminal understands. */
  const ringBell = () => {
    if (context.settings.notify) io.writeOutput("\x07");
  };
  const terminal = createTerminalSession(io, loan);

  const leave = () => terminal.leave();
  // Restores the terminal however the process ends: its messages must appear on the user's own screen.
  process.prependListener("exit", leave);
  process.prependListener("uncaughtException", leave);
  process.prependListener("unhandledRejection", leave);
  const tick = setInterval(() => {
    if (!app.isStill) repaint();
    releaseMemoryWhenQuiet();
  }, REPAINT_INTERVAL_MS);
  const patience = setTimeout(() => releasePaint(), FIRST_DATA);
  app.context.signal.addEventListener("abort", () => ended.reject(app.context.signal.reason));
  try {
    terminal.enter();
    app.begin();
    repaint();
    return await ended.promise;
  } finally {
    clearInterval(tick);
    clearTimeout(patience);
    await query?.end();
    leave(); // first: all later messages are for the user's own screen
    for (const path of endApp(app)) io.writeMessage(`your text is kept in ${path}`);
  }

  function createApp({ call, context }: OpenedContext): ConsoleApp {
    return new ConsoleApp({
      call,
      io,
      context,
      first,
      getColours: () => query,
      repaint,
      suspend: () => terminal.suspend(),
      lendTerminal: (use) => terminal.lend(use),
      switchContext: (name) => {
        lastSwitch = lastSwitch.then(() => switchContext(name));
      },
      act,
      redraw: () => display.forget(),
      getIsQuiet: isQuiet,
      getScreenNumber: () => screens,
      runWhenShown: (action) => shownQuery.add(() => guard(action)),
      onFirstRead: releasePaint,
      quit: () => {
        keys.end(); // ignores input after the key that quits
        ended.resolve(EXIT.ok);
      },
    });
  }

  /**
   * Shows another context. If it cannot be used, the current one stays. If its cluster does not answer, it is shown
   * nevertheless.
   */
  async function switchContext(name: string | undefined): Promise<void> {
    try {
      const opened = await openContext(first, io, name);
      const before = app;
      app = createApp(opened);
      app.update((state) => ({ ...state, tab: before.state.tab }));

      const kept = endApp(before);
      for (const path of kept) app.log.add(`your text is kept in ${path}`);
      before.context.store.close();
      app.begin();
      display.forget();
    } catch (error) {
      app.showToast(getErrorMessage(error), "problem");
      app.log.add(getErrorMessage(error));
    } finally {
      repaint();
    }
  }

  /** Ends the views of a cluster, and stores the preferences. @returns the files of texts that were not stored */
  function endApp(app: ConsoleApp): string[] {
    app.overlays.closeAll();
    app.end();
    app.savePreferences();
    return app.drafts.end();
  }

  function createTerminalQuery(io: CommandIo, about: QuerySubjects): TerminalQuery {
    const ports = {
      write: (text: string) => void io.writeOutput(text),
      onChange: () => repaint(),
      onKeyboard: () => {
        keys.expectCodedKeys();
        display.enableCodedKeys?.();
        repaint();
      },
      onExpecting: (isExpected: boolean) => {
        isAnswerExpected = isExpected;
        updateExpectation();
      },
    };
    return new TerminalQuery(ports, { about });
  }

  /**
   * Tells the key reader whether an answer is due. An Escape may then begin the answer, so the reader waits longer for
   * the rest.
   */
  function updateExpectation(): void {
    keys.expectReport(isAnswerExpected || shownQuery.missingAnswers > 0);
  }

  function createTerminalSession(io: CommandIo, loan: TerminalLoan): TerminalSession {
    return new TerminalSession({ io, loan }, process.stdin, {
      onBytes: (bytes) => keys.feed(bytes),
      onResize: () => repaint(),
      onTaken: () => {
        screens += 1;
        display.begin();
        query?.ask();
        shownQuery.ask([]); // before any frame, so that a slow line is not taken for a terminal that never answers
        updateExpectation();
        repaint();
      },
      onGiven: () => {
        display.suspend?.();
        writer?.flush();
        shownQuery.forget(discardAnswers(shownQuery.missingAnswers));
      },
      onLeft: () => display.end(),
      onNotStopped: () => app.showToast("this console was not started by a shell", "problem"),
      onGone: () => ended.resolve(EXIT.io),
    });
  }

  function releasePaint(): void {
    isHeld = false;
    repaint();
  }

  function isQuiet(): boolean {
    return subtractTime(app.context.clock.now(), lastKeyAt) >= QUIET_AFTER_MS;
  }

  /** Gives memory back that the first read and keys have needed. Meanwhile nothing is painted, for some 0.2 s with 100,000 tickets. */
  function releaseMemoryWhenQuiet(): void {
    if (lastUseAt === undefined || !isLive(app.liveView.connection)) return;
    if (subtractTime(app.context.clock.now(), lastUseAt) < QUIET_AFTER_MS) return;
    lastUseAt = undefined;
    releaseMemory();
  }

  /** Schedules one repaint for all changes in one turn of the event loop. */
  function repaint(): void {
    if (isDue || isHeld) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      if (terminal.isOn) guard(() => paint());
    });
  }

  function handleInput(event: InputEvent): void {
    if (isDue || writer?.isClogged) catchUpWithKeys();
    dispatch(app, event, (mouse) => display.handleMouse?.(mouse));
    if (isQuiet()) app.catchUp(); // after the event: a click is meant for the displayed rows
    lastKeyAt = app.context.clock.now();
    lastUseAt = lastKeyAt;
    if (app.overlays.top !== undefined) repaint(); // overlays do not report changes of their own state
  }

  /** Applies the effects of earlier keys, so that a key acts on them even if the terminal has not shown them yet. */
  function catchUpWithKeys(): void {
    app.refreshDerivedState();
    const hasOverlay = app.overlays.top !== undefined;
    if (hasOverlay && terminal.isOn && !isHeld) display.show(app);
  }

  function handleReport(report: TerminalReport): void {
    if (report.of !== "status") return query?.takeReport(report);
    shownQuery.takeAnswer();
    updateExpectation();
  }

  function paint(): void {
    if (writer?.isClogged) return; // repainted once the terminal has accepted the pending output
    const news = app.noticeChanges();
    if (news !== undefined) ringBell();
    const start = app.context.clock.now();
    app.refreshDerivedState();
    app.frames.isDue = true; // times have passed
    if (!display.show(app)) ended.resolve(EXIT.io);
    app.handleFrameBuilt(subtractTime(app.context.clock.now(), start));
    if (shownQuery.isWanted) void askWhetherShown();
  }

  async function askWhetherShown(): Promise<void> {
    await display.waitUntilWritten?.();
    if (!terminal.isOn || !shownQuery.isWanted) return;
    shownQuery.ask();
    updateExpectation();
  }

  /** Runs `work`. A defect ends the console, and is reported after the screen is restored. */
  function guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      ended.reject(error);
    }
  }
}

/** Chooses what to ask a terminal for: what it may answer, and the theme or the keys depend on. */
function chooseSubjects(env: CommandIo["env"]): QuerySubjects {
  const keyboard = !isSimpleTerminal(env.TERM);
  const colours = keyboard && mayHaveMoreColours(env);
  return { keyboard, colours, background: colours || dependsOnBackground(env) };
}
