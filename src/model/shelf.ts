/** Things by name that change one by one, and are given out as a whole that does not. */
export class Shelf<T> {
  readonly #things = new Map<string, T>();
  #given: ReadonlyMap<string, T> | undefined;

  /** @param thing  undefined takes away what was there. @returns whether there is something now */
  put(name: string, thing: T | undefined): boolean {
    if (thing === undefined) this.delete(name);
    else this.#things.set(name, thing);
    this.#given = undefined;
    return thing !== undefined;
  }

  delete(name: string): void {
    if (this.#things.delete(name)) this.#given = undefined;
  }

  /** All of them as they are now. The same map until something changes. */
  all(): ReadonlyMap<string, T> {
    this.#given ??= new Map(this.#things);
    return this.#given;
  }
}
