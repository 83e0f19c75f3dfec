import { EXIT } from "../base/errors.ts";
import type { Call, Surroundings } from "../commands/spec.ts";
import type { Desk } from "../commands/with-store.ts";
import type { ConsoleApp } from "./app/console-app.ts";
import { dispatch } from "./app/dispatch.ts";
import { assemble, keepArrangement } from "./assemble.ts";
import type { Face } from "./face/face.ts";
import { PlainFace } from "./face/plain-face.ts";
import { ScreenFace } from "./face/screen-face.ts";
import { readKeys } from "./input/reader.ts";
import type { TabId } from "./state/state.ts";
import { Outlet } from "./tty/outlet.ts";
import { TerminalSession } from "./tty/terminal-session.ts";

/** What is on the screen grows older, ms: ages are painted anew this often. */
const TICK = 1_000;

/** The console on a terminal, until its user leaves it or the process is ended. @returns the exit code */
export async function interactive(
  call: Call,
  world: Surroundings,
  desk: Desk,
  view: TabId | undefined,
): Promise<number> {
  return await new Session(call, world, desk, view).run();
}

class Session {
  readonly #desk: Desk;
  readonly #app: ConsoleApp;
  readonly #face: Face;
  readonly #terminal: TerminalSession;
  /** Undefined where it cannot be had: then writing waits for the terminal. */
  readonly #outlet: Outlet | undefined;
  readonly #keys = readKeys((event) => this.#guard(() => dispatch(this.#app, event)));
  readonly #ended = Promise.withResolvers<number>();
  #isDue = false;

  constructor(call: Call, around: Surroundings, desk: Desk, view: TabId | undefined) {
    const gone = () => this.#ended.resolve(EXIT.io);
    const outlet = Outlet.open({ onDrained: () => this.#repaint(), onGone: gone });
    const world = outlet === undefined ? around : { ...around, out: (text: string) => outlet.write(text) };
    this.#outlet = outlet;
    this.#desk = desk;
    this.#face = call.flags.plain
      ? new PlainFace(world)
      : new ScreenFace(world, { mouse: desk.settings.mouse });
    this.#app = assemble({
      ...{ call, world, desk },
      repaint: () => this.#repaint(),
      suspend: () => this.#terminal.suspend(),
      redraw: () => this.#face.forget(),
      quit: (code) => {
        this.#keys.end(); // what was typed behind it is for nobody
        this.#ended.resolve(code);
      },
    });
    if (view !== undefined) this.#app.update((state) => ({ ...state, tab: view }));
    this.#terminal = this.#session(world);
  }

  async run(): Promise<number> {
    const leave = () => this.#terminal.leave();
    // Whatever ends the process: what is said of it must be read on the user's own screen.
    process.prependListener("exit", leave);
    process.prependListener("uncaughtException", leave);
    process.prependListener("unhandledRejection", leave);
    const tick = setInterval(() => this.#repaint(), TICK);
    this.#desk.signal.addEventListener("abort", () => this.#ended.reject(this.#desk.signal.reason));
    try {
      this.#terminal.enter();
      this.#app.begin();
      this.#repaint();
      return await this.#ended.promise;
    } finally {
      clearInterval(tick);
      leave(); // first: whatever is said from here on is for the user's own screen
      this.#app.end();
      keepArrangement(this.#app);
    }
  }

  #session(world: Surroundings): TerminalSession {
    return new TerminalSession(world, process.stdin, {
      onBytes: (bytes) => this.#keys.feed(bytes),
      onResize: () => this.#repaint(),
      onTaken: () => {
        this.#face.begin();
        this.#repaint();
      },
      onGiven: () => {
        this.#face.end();
        this.#outlet?.flush();
      },
      onNotStopped: () => this.#app.toast("there is no shell behind this console to go back to", "problem"),
      onGone: () => this.#ended.resolve(EXIT.io),
    });
  }

  /** Once for everything that changes in one turn of the event loop. */
  #repaint(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      if (this.#terminal.isOn) this.#guard(() => this.#paint());
    });
  }

  #paint(): void {
    if (this.#outlet?.isClogged) return; // it is painted as it is then, once the terminal has taken what it has
    this.#app.settle();
    if (!this.#face.show(this.#app)) this.#ended.resolve(EXIT.io);
  }

  /** A defect ends the console, and is told once the screen is the user's again. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#ended.reject(error);
    }
  }
}
