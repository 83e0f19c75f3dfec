import { isLightBackground, type TerminalReport } from "./input-event.ts";

/** Asks for the background colour (OSC 11), then for the attributes of the terminal (DA1), which each answers. */
const QUESTION = "\x1b]11;?\x07\x1b[c";
/** Time after which no answer is expected any more, ms. A later one is still taken. */
const PATIENCE = 2_000;
/** Maximum wait for an outstanding answer before the terminal is given back, ms. */
const LAST_WAIT = 300;

/**
 * Asks the terminal for its background. Terminals answer in order, so the answer to the second question says that
 * there will be none to the first. Nothing waits for the answer, except the end: the shell would take it for typed
 * text.
 */
export class BackgroundQuery {
  readonly #write: (text: string) => void;
  readonly #onChange: () => void;
  readonly #onExpecting: (isExpected: boolean) => void;
  #isLight: boolean | undefined;
  #timer: NodeJS.Timeout | undefined;
  #answered: PromiseWithResolvers<void> | undefined;

  constructor(ports: {
    write(text: string): void;
    /** The background is another than was known. */
    onChange(): void;
    onExpecting(isExpected: boolean): void;
  }) {
    this.#write = ports.write;
    this.#onChange = ports.onChange;
    this.#onExpecting = ports.onExpecting;
  }

  /** Whether the background is light; undefined if it is not known. */
  get isLight(): boolean | undefined {
    return this.#isLight;
  }

  ask(): void {
    this.#settle();
    this.#answered = Promise.withResolvers();
    this.#timer = setTimeout(() => this.#settle(), PATIENCE);
    this.#onExpecting(true);
    this.#write(QUESTION);
  }

  takeReport(report: TerminalReport): void {
    if (report.of === "attributes") return this.#settle();
    if (report.of !== "background") return;
    const isLight = isLightBackground(report);
    if (isLight === this.#isLight) return;
    this.#isLight = isLight;
    this.#onChange();
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
    this.#onExpecting(false);
    this.#answered?.resolve();
    this.#answered = undefined;
  }
}
