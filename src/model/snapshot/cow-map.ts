/** A copy-on-write map: values change one at a time, and `getAll` returns an immutable copy. */
export class CowMap<T> {
  readonly #things = new Map<string, T>();
  #given: ReadonlyMap<string, T> | undefined;

  get(name: string): T | undefined {
    return this.#things.get(name);
  }

  /** Sets a value. @param thing  undefined deletes the name. @returns whether the name has a value now */
  put(name: string, thing: T | undefined): boolean {
    if (thing === undefined) this.delete(name);
    else this.#things.set(name, thing);
    this.#given = undefined;
    return thing !== undefined;
  }

  delete(name: string): void {
    if (this.#things.delete(name)) this.#given = undefined;
  }

  /** Returns all current values. Returns the same map until a value changes. */
  getAll(): ReadonlyMap<string, T> {
    this.#given ??= new Map(this.#things);
    return this.#given;
  }
}
