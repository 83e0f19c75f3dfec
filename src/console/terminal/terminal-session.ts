import { closeSync, constants, openSync, readSync } from "node:fs";
import type { ReadStream } from "node:tty";
import type { CommandIo } from "../../cli/frame/command.ts";
import { collectTexts } from "../../core/base/text.ts";
import { ASKED_COLOUR, isLightBackground, type TerminalReport } from "./input-event.ts";

/**
 * Signals that keys send to all programs of a terminal. While another program has the terminal, they are meant for that
 * program.
 */
const OF_KEYS: ReadonlySet<NodeJS.Signals> = new Set(["SIGINT", "SIGQUIT"]);

/**
 * Tells whether another program, such as a pager, has the terminal. Until it ends, the console does not write, and keys
 * do not end it.
 */
export class TerminalLoan {
  isActive = false;

  /** Creates the io of the console. While the terminal is lent, it ignores output and signals of keys. */
  wrapIo(io: CommandIo): CommandIo {
    return {
      ...io,
      writeOutput: (text) => (this.isActive ? true : io.writeOutput(text)),
      onSignal: (listener) =>
        io.onSignal((name) => {
          if (!this.isActive || !OF_KEYS.has(name)) listener(name);
        }),
    };
  }
}

/**
 * Resets modes that a killed program may leave on in the terminal: application keys, mouse, focus events, pastes,
 * colours, the scroll region, a hidden cursor. Restores the position of the cursor, which the reset of the scroll
 * region changes.
 */
const RESET_TERMINAL =
  "\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b7\x1b[r\x1b8\x1b[0m\x1b[?25h";

/** Discards input that was typed for the other program but not read by it, so that it has no effect in the console. */
function discardInput(): void {
  const buffer = Buffer.alloc(4_096);
  readUnblocked((descriptor) => {
    while (readSync(descriptor, buffer) > 0);
  });
}

/**
 * Opens standard input again for non-blocking reads. Ignores the error that ends them: no input is left (EAGAIN), or
 * the terminal is closed.
 */
function readUnblocked(read: (descriptor: number) => void): void {
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    const descriptor = openSync("/dev/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY);
    try {
      read(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // see above
  }
}

/** Events of a terminal other than keys. */
interface TerminalEvents {
  onBytes(bytes: Buffer): void;
  onResize(): void;
  /** The console has taken the terminal: at the start, and when the process continues after a stop. */
  onTaken(): void;
  /** The console gives the terminal back. Also called from handlers of `exit`. */
  onGiven(): void;
  /** The console has left the terminal for good. */
  onLeft(): void;
  /** The process was not stopped, because no shell could continue it. The console has the terminal again. */
  onNotStopped(): void;
  /** The terminal is closed. */
  onGone(): void;
}

/** Time within which the system stops a process, ms. Normally it does so at once. */
const AT_ONCE = 100;

/**
 * Controls the user's terminal in raw mode. `leave` restores the terminal on every way out; it may be called more
 * than once, and from a handler of `exit`.
 */
export class TerminalSession {
  readonly #stdin: ReadStream;
  readonly #events: TerminalEvents;
  readonly #io: CommandIo;
  readonly #loan: TerminalLoan;
  #isOn = false;
  #stops: (() => void)[] = [];

  constructor(
    { io, loan }: { io: CommandIo; loan: TerminalLoan },
    stdin: ReadStream,
    events: TerminalEvents,
  ) {
    this.#io = io;
    this.#loan = loan;
    this.#stdin = stdin;
    this.#events = events;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  enter(): void {
    const { onBytes, onResize, onGone } = this.#events;
    this.#stdin.on("data", onBytes);
    this.#stdin.on("end", onGone);
    this.#stdin.on("error", onGone);
    const offResize = this.#io.terminal.onResize(onResize);
    const onContinue = () => this.#continue();
    process.on("SIGCONT", onContinue);
    this.#stops = [
      () => this.#stdin.off("data", onBytes),
      offResize,
      () => process.off("SIGCONT", onContinue),
    ];
    this.#take();
    this.#stdin.resume();
  }

  /** Gives the terminal back and stops the process, as Ctrl+Z does elsewhere; `fg` continues it. */
  suspend(): void {
    this.#give();
    process.kill(0, "SIGTSTP"); // the whole job, as the terminal itself would
    setTimeout(() => this.#takeAnyway(), AT_ONCE);
  }

  /**
   * Takes the terminal again if the process was not stopped. Without a shell, for example in a separate window, the
   * system ignores the signal, because the process could not be continued with `fg`.
   */
  #takeAnyway(): void {
    if (this.#isOn || this.#stops.length === 0) return;
    this.#take();
    this.#events.onNotStopped();
  }

  /**
   * Lends the terminal to another program, and takes it back in its previous state, however the program ends. Runs one
   * program at a time.
   * @throws what `use` throws
   */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    if (!this.#isOn) throw new Error("the terminal is not here to be lent");
    this.#give();
    this.#stdin.pause();
    this.#loan.isActive = true;
    const { restoreModes, saveModes } = await import("./terminal-modes.ts"); // seldom needed, and slow to load
    const modes = saveModes();
    try {
      return await use();
    } finally {
      restoreModes(modes);
      this.#loan.isActive = false;
      if (this.#stops.length > 0) this.#takeBack();
    }
  }

  #takeBack(): void {
    this.#io.writeOutput(RESET_TERMINAL);
    this.#take();
    discardInput();
    this.#stdin.resume();
  }

  leave(): void {
    for (const stop of this.#stops.splice(0)) stop();
    this.#give();
    this.#events.onLeft();
    this.#stdin.pause();
  }

  /** Takes the terminal again after a stop: a shell may have restored its own modes meanwhile. */
  #continue(): void {
    if (this.#loan.isActive) return; // the other program has the terminal
    this.#isOn = false;
    this.#take();
  }

  #take(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#stdin.setRawMode(true);
    this.#events.onTaken();
  }

  #give(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    try {
      this.#events.onGiven();
      this.#stdin.setRawMode(false);
    } catch {
      // the terminal is closed: there is nothing to restore
    }
  }
}

/** Asks whether the theme is light (mode 2031), and for the background colour (OSC 11), which is more exact. */
const ABOUT_BACKGROUND = "\x1b[?996n\x1b]11;?\x07";
/** Asks for the modes of the keyboard (kitty's protocol). */
const ABOUT_KEYBOARD = "\x1b[?u";
/**
 * Asks for the colours of 24 bits: for the capability `RGB` (XTGETTCAP), and for a colour that was set just before (DECRQSS). Some
 * terminals answer one of them only. Nothing is shown meanwhile.
 */
const ABOUT_COLOURS = `\x1bP+q524742\x1b\\\x1b[${ASKED_COLOUR}m\x1bP$qm\x1b\\\x1b[m`;
/** Asks for the attributes of the terminal (DA1). Every terminal answers this. */
const ATTRIBUTES_QUERY = "\x1b[c";
/** Time after which an answer is no longer expected, ms. A later one is still accepted. */
const ANSWER_TIMEOUT_MS = 2_000;
/** Maximum wait for an outstanding answer before the terminal is given back, ms. */
const LAST_WAIT = 300;

/** What to ask for. */
export interface QuerySubjects {
  background: boolean;
  colours: boolean;
  keyboard: boolean;
}

interface QueryPorts {
  write(text: string): void;
  /** What is known of the background or of the colours has changed. */
  onChange(): void;
  /** The terminal offers kitty's protocol. */
  onKeyboard(): void;
  onExpecting(isExpected: boolean): void;
}

/**
 * Asks the terminal for its background, its colours and its keyboard protocol. Terminals answer in order, so after the answer to the
 * last question, the others will not be answered any more. Only the end of the console waits for answers: the shell
 * would take them for typed text.
 */
export class TerminalQuery {
  readonly #ports: QueryPorts;
  readonly #question: string;
  #isLight: boolean | undefined;
  #hasAllColours = false;
  #timer: NodeJS.Timeout | undefined;
  #answered: PromiseWithResolvers<void> | undefined;

  constructor(ports: QueryPorts, { about }: { about: QuerySubjects }) {
    this.#ports = ports;
    const { background, colours, keyboard } = about;
    const questions = [
      background && ABOUT_BACKGROUND,
      colours && ABOUT_COLOURS,
      keyboard && ABOUT_KEYBOARD,
      ATTRIBUTES_QUERY,
    ];
    this.#question = collectTexts(questions).join("");
  }

  /** Whether the background is light; undefined if it is not known. */
  get isLight(): boolean | undefined {
    return this.#isLight;
  }

  /** Whether the terminal has answered that it has the colours of 24 bits. */
  get hasAllColours(): boolean {
    return this.#hasAllColours;
  }

  ask(): void {
    this.#settle();
    this.#answered = Promise.withResolvers();
    this.#timer = setTimeout(() => this.#settle(), ANSWER_TIMEOUT_MS);
    this.#ports.onExpecting(true);
    this.#ports.write(this.#question);
  }

  takeReport(report: TerminalReport): void {
    if (report.of === "attributes") this.#settle();
    if (report.of === "keyboard") this.#ports.onKeyboard();
    if (report.of === "scheme") this.#setLight(report.isLight);
    if (report.of === "background") this.#setLight(isLightBackground(report));
    if (report.of === "colours" && !this.#hasAllColours) {
      this.#hasAllColours = true;
      this.#ports.onChange();
    }
  }

  #setLight(isLight: boolean): void {
    if (isLight === this.#isLight) return;
    this.#isLight = isLight;
    this.#ports.onChange();
  }

  /** Waits for an outstanding answer, for a limited time. */
  async end(): Promise<void> {
    if (this.#answered === undefined) return;
    const limit = setTimeout(() => this.#settle(), LAST_WAIT);
    await this.#answered.promise;
    clearTimeout(limit);
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#ports.onExpecting(false);
    this.#answered?.resolve();
    this.#answered = undefined;
  }
}

/** The query for the state of the terminal, and its answer: `CSI 0 n`. Terminals answer in the order of the output. */
const STATE_QUERY = "\x1b[5n";

/** How long to wait for a terminal that has never answered, ms. The first question is sent before any frame. */
const MUTE_AFTER = 10_000;

/**
 * Runs actions when the terminal has shown the output before them. A terminal that has answered earlier but does not
 * answer now is slow or stopped and shows nothing, so the actions wait.
 */
export class ShownQuery {
  readonly #write: (text: string) => void;
  /** Actions for which no question has been sent yet. */
  #actions: (() => void)[] = [];
  /** The questions that are not answered yet, the oldest first: their actions, and how many answers are missing. */
  #questions: { actions: (() => void)[]; missing: number }[] = [];
  /**
   * Maximum number of answers to forgotten questions that may still come. Each question is sent so many times more, so
   * that its last answer follows the output before it, whoever read the others.
   */
  #strays = 0;
  #hasAnswered = false;
  /** The terminal never answers, so the actions do not wait for it. */
  #isMute: boolean;
  #timer: NodeJS.Timeout | undefined;

  /** @param canAsk  whether the terminal understands the question. A terminal for plain lines would show it */
  constructor(write: (text: string) => void, { canAsk = true } = {}) {
    this.#write = write;
    this.#isMute = !canAsk;
  }

  /** Number of answers that are missing. */
  get missingAnswers(): number {
    return this.#isMute ? 0 : this.#questions.reduce((sum, { missing }) => sum + missing, 0);
  }

  /** Adds an action, for the next call of `ask`. */
  add(action: () => void): void {
    this.#actions.push(action);
  }

  /** Whether there are actions for a question. */
  get isWanted(): boolean {
    return this.#actions.length > 0;
  }

  /**
   * Sends a question after the output so far. The first one finds out whether the terminal answers at all.
   * @param actions  what its answer starts; none if the output has no frame
   */
  ask(actions = this.#actions.splice(0)): void {
    if (this.#isMute) return runSoon(actions);
    const missing = 1 + this.#strays;
    this.#questions.push({ actions, missing });
    this.#write(STATE_QUERY.repeat(missing));
    if (!this.#hasAnswered) this.#timer ??= setTimeout(() => this.#giveUp(), MUTE_AFTER);
  }

  takeAnswer(): void {
    clearTimeout(this.#timer);
    this.#hasAnswered = true;
    this.#isMute = false;
    const [question] = this.#questions;
    if (question === undefined) this.#strays = Math.max(0, this.#strays - 1);
    else {
      question.missing -= 1;
      if (question.missing === 0) runSoon(this.#questions.shift()?.actions ?? []);
    }
  }

  /**
   * Forgets the questions, because the terminal is given to another program. Their actions wait for the next question.
   * @param read  how many of the missing answers were read: this program or the other one may get the rest
   */
  forget(read: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#strays += Math.max(0, this.missingAnswers - read);
    this.#actions = [...this.#questions.splice(0).flatMap(({ actions }) => actions), ...this.#actions];
  }

  /** Runs the actions. The questions stay: a late answer is no answer to a later question. */
  #giveUp(): void {
    this.#isMute = true;
    runSoon(this.#questions.flatMap(({ actions }) => actions.splice(0)));
  }
}

/** Runs actions in a later turn of the event loop: keys that have already arrived were typed before the frame was shown. */
function runSoon(actions: readonly (() => void)[]): void {
  if (actions.length > 0)
    setImmediate(() => {
      for (const action of actions) action();
    });
}

/** Longest wait, ms. A shell that reads the answer later shows it as typed text. */
const ANSWER_WAIT = 250;

const READ_PAUSE = 5;

/**
 * Reads and discards the input from a terminal until `count` answers to `CSI 5 n` have arrived. Blocks, because the
 * process may be about to exit.
 * @returns how many have arrived
 */
export function discardAnswers(count: number): number {
  let read = "";
  if (count > 0)
    readUnblocked((descriptor) => {
      const pause = new Int32Array(new SharedArrayBuffer(4));
      const bytes = Buffer.alloc(4_096);
      for (let waited = 0; waited < ANSWER_WAIT && countAnswers(read) < count; waited += READ_PAUSE) {
        try {
          const length = readSync(descriptor, bytes);
          if (length === 0) return;
          read = (read + bytes.toString("latin1", 0, length)).slice(-bytes.length);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
          Atomics.wait(pause, 0, 0, READ_PAUSE);
        }
      }
    });
  return countAnswers(read);
}

const countAnswers = (read: string) => read.match(/\x1b\[[03]n/g)?.length ?? 0;
