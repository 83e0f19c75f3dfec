/** The frames of a console: what it shows, one after the other. */
export class Frames {
  /** Identifies the frame that is shown. */
  current = Symbol("frame");
  /** Whether something has changed since then. */
  isDue = false;
  /** Set by components that have other data in the frame that is being published. */
  hasNews = false;
  readonly #viewers = new Set<() => void>();

  /** @returns the function that ends the subscription */
  subscribe = (onFrame: () => void) => {
    this.#viewers.add(onFrame);
    return () => void this.#viewers.delete(onFrame);
  };

  /** Begins a frame if one is due. @returns whether anything is to be rendered */
  publish(): boolean {
    this.hasNews = false;
    if (!this.isDue) return false;
    this.isDue = false;
    this.current = Symbol("frame");
    for (const onFrame of this.#viewers) onFrame();
    return this.hasNews;
  }
}
