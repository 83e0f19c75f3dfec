import { EXIT } from "../base/errors.ts";
import type { Call, Surroundings } from "../commands/spec.ts";
import type { Desk } from "../commands/with-store.ts";
import { dispatch } from "./app/dispatch.ts";
import { assemble, keepArrangement } from "./assemble.ts";
import { frameOf } from "./frame/frame.ts";
import { readKeys } from "./input/reader.ts";
import type { TabId } from "./state/state.ts";
import { TerminalSession } from "./tty/terminal-session.ts";
import { Renderer } from "./view/renderer.tsx";

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
  readonly #world: Surroundings;
  readonly #desk: Desk;
  readonly #app: ReturnType<typeof assemble>;
  readonly #renderer = new Renderer();
  readonly #terminal: TerminalSession;
  readonly #ended = Promise.withResolvers<number>();
  #isDue = false;

  constructor(call: Call, world: Surroundings, desk: Desk, view: TabId | undefined) {
    this.#world = world;
    this.#desk = desk;
    this.#app = assemble({
      ...{ call, world, desk },
      repaint: () => this.#repaint(),
      suspend: () => this.#terminal.suspend(),
      quit: (code) => this.#ended.resolve(code),
    });
    if (view !== undefined) this.#app.update((state) => ({ ...state, tab: view }));
    const keys = readKeys((event) => this.#guard(() => dispatch(this.#app, event)));
    this.#terminal = new TerminalSession(world, process.stdin, { mouse: true }, {
      onBytes: (bytes) => keys.feed(bytes),
      onResize: () => this.#repaint(),
      onContinue: () => this.#repaint(),
      onGone: () => this.#ended.resolve(EXIT.io),
    });
  }

  async run(): Promise<number> {
    const leave = () => this.#terminal.leave();
    process.once("exit", leave);
    const tick = setInterval(() => this.#repaint(), TICK);
    this.#desk.signal.addEventListener("abort", () => this.#ended.reject(this.#desk.signal.reason));
    try {
      this.#terminal.enter();
      this.#app.begin();
      this.#repaint();
      return await this.#ended.promise;
    } finally {
      clearInterval(tick);
      keepArrangement(this.#app);
      this.#app.end();
      this.#terminal.leave();
      this.#renderer.end();
      process.off("exit", leave);
    }
  }

  /** Once for everything that changes in one turn of the event loop. */
  #repaint(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#guard(() => this.#paint());
      this.#isDue = false;
    });
  }

  #paint(): void {
    this.#app.settle();
    const lines = this.#renderer.lines(frameOf(this.#app));
    if (!this.#terminal.paint(lines)) this.#ended.resolve(EXIT.io);
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
