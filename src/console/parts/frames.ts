/** The frames of a console: each is what it shows at one time. */
export class Frames {
  number = 0;
  /** Whether something has changed since the last frame. */
  isDue = false;
  /** Set by components that have other data in the frame that is being published. */
  hasNews = false;
  readonly #viewers = new Set<() => void>();

  /** @returns the function that ends the subscription */
  subscribe = (onFrame: () => void) => {
    this.#viewers.add(onFrame);
    return () => void this.#viewers.delete(onFrame);
  };

  /** Begins a frame. @returns whether anything in it is to be rendered */
  publish(): boolean {
    this.isDue = false;
    this.hasNews = false;
    this.number += 1;
    for (const onFrame of this.#viewers) onFrame();
    return this.hasNews;
  }
}

/** Whether two values have the same content. Objects of classes, and functions, are compared by identity. */
export function isSameData(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isPlainData(a) || !isPlainData(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isSameData(a[key], b[key]));
}

function isPlainData(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype;
}
