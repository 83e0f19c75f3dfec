/** The schedules that a connection has changed and one source of tasks has not read since. */
export interface UnreadChanges {
  listIds(): string[];
  /** Removes schedules that have been read. */
  forget(ids: readonly string[]): void;
  /** Stops tracking. Call it when the source closes. */
  close(): void;
}

/**
 * Tracks the schedules that a connection has changed, for each of its sources of tasks. A source receives changes from
 * its watch, possibly after the call that made them has returned.
 */
export class ChangeTracker {
  readonly #sources = new Set<Map<string, number>>();
  #count = 0;

  /** Records that a schedule was changed, or may have been. */
  recordChange(id: string): void {
    this.#count += 1;
    for (const changed of this.#sources) changed.set(id, this.#count);
  }

  openUnread(): UnreadChanges {
    const changed = new Map<string, number>();
    let asked = 0;
    this.#sources.add(changed);
    return {
      listIds: () => {
        asked = this.#count;
        return [...changed.keys()];
      },
      forget: (ids) => {
        for (const id of ids) if ((changed.get(id) ?? 0) <= asked) changed.delete(id); // keep later changes
      },
      close: () => this.#sources.delete(changed),
    };
  }
}
