/** Which schedule is to be looked at when, the earliest first: a heap in which what was moved stays behind as a husk. */
export class Agenda {
  readonly #when = new Map<string, number>();
  #heap: Item[] = [];

  /** @param at  ms since the epoch; undefined: not at all */
  set(id: string, at: number | undefined): void {
    if (this.#when.get(id) === at) return;
    if (at === undefined || at === Number.POSITIVE_INFINITY) {
      this.#when.delete(id);
      return;
    }
    this.#when.set(id, at);
    this.#push({ at, id });
    if (this.#heap.length > 64 && this.#heap.length > 4 * this.#when.size) this.#sweep();
  }

  /** The earliest instant; undefined where nothing is planned. */
  get next(): number | undefined {
    return this.#top()?.at;
  }

  /** Takes out the earliest that is due by `now`; among equals in any order. */
  take(now: number): string | undefined {
    const top = this.#top();
    if (top === undefined || top.at > now) return undefined;
    this.#pop();
    this.#when.delete(top.id);
    return top.id;
  }

  #top(): Item | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (this.#when.get(top.id) === top.at) return top;
      this.#pop();
    }
    return undefined;
  }

  #sweep(): void {
    this.#heap = [...this.#when].map(([id, at]) => ({ at, id })).sort((a, b) => a.at - b.at);
  }

  #push(item: Item): void {
    const heap = this.#heap;
    let place = heap.push(item) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as Item;
      if (above.at <= item.at) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = item;
  }

  #pop(): void {
    const heap = this.#heap;
    const item = heap.pop();
    if (item === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && right.at < (heap[child] as Item).at) child += 1;
      const below = heap[child] as Item;
      if (below.at >= item.at) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = item;
  }
}

interface Item {
  readonly at: number;
  readonly id: string;
}
