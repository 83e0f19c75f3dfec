import type { Command } from "../../commands/spec.ts";
import { type Preview, previewOf } from "../act/preview.ts";
import type { App } from "../app/app.ts";

/** A preview is asked for so long after the last change of a form, ms. */
const SETTLE = 250;
/** Previews that are made at the same time. */
const AT_ONCE = 4;

/** A preview must have been on the screen for so long before a key can mean it, ms: none is read faster. */
const READ = 250;

/** What is to be asked: one command line an item. */
export interface Question {
  command: Command;
  items: readonly (readonly string[])[];
}

/** The previews of a dialog: asked again whenever what it would do has changed. */
export class DialogPreview {
  readonly #app: App;
  #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #asked = "";
  #reading: NodeJS.Timeout | undefined;
  #shown: readonly Preview[] | undefined;
  #read: readonly Preview[] | undefined;
  /** One an item; undefined while they are made. */
  previews: readonly Preview[] | undefined;

  constructor(app: App) {
    this.#app = app;
  }

  /** Whether its user can have seen what would happen: a key from before, or one too many, means something else. */
  get isRead(): boolean {
    return this.previews !== undefined && this.previews === this.#read;
  }

  /**
   * It is being painted. The time runs from the turn after: a terminal may take its time, and keys that have waited
   * meanwhile were not meant for it.
   */
  onShown(): void {
    const { previews } = this;
    if (previews === undefined || previews === this.#shown) return;
    this.#shown = previews;
    setImmediate(() => {
      clearTimeout(this.#reading);
      this.#reading = setTimeout(() => this.onRead(previews), READ);
    });
  }

  /** A key came too early: from now on, the time runs anew, or one that is held down would have its way in the end. */
  onHaste(): void {
    clearTimeout(this.#reading);
    this.#shown = undefined;
  }

  /** Somebody has read it: there was time, or they have typed what it asks for. */
  onRead(previews = this.previews): void {
    this.#read = previews;
    if (previews === this.previews) this.#app.changed();
  }

  /** Asks what would happen, unless that was asked last. */
  ask(question: Question, pause = SETTLE): void {
    const asked = JSON.stringify(question.items);
    if (asked === this.#asked) return;
    this.end();
    this.#asked = asked;
    this.#stop = new AbortController();
    this.previews = undefined;
    this.#timer = setTimeout(() => void this.#make(question, this.#stop.signal), pause);
  }

  /** Asks again, whatever was asked before. */
  renew(question: Question): void {
    this.#asked = "";
    this.ask(question, 0);
  }

  end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#reading);
    this.#stop.abort();
  }

  async #make({ command, items }: Question, signal: AbortSignal): Promise<void> {
    const found: Preview[] = [];
    const next = items.entries();
    const work = async () => {
      for (const [at, words] of next) found[at] = await previewOf(this.#app.jobs, command, words, signal);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (signal.aborted) return;
    this.previews = found;
    this.#app.changed();
  }
}
