/**
 * Returns a function that computes the value of each argument once.
 * @param most  maximum number of kept values; when it is reached, all are forgotten
 */
export function memoize<K, T>(compute: (argument: K) => T, most = Infinity): (argument: K) => T {
  const known = new Map<K, T>();
  return remember(known, (argument) => {
    const value = compute(argument);
    if (known.size >= most) known.clear();
    return value;
  });
}

/** The same for objects. A value is kept as long as its object is referenced elsewhere. */
export function memoizeWeakly<K extends object, T>(compute: (argument: K) => T): (argument: K) => T {
  return remember(new WeakMap(), compute);
}

function remember<K, T>(
  known: { get(argument: K): T | undefined; has(argument: K): boolean; set(argument: K, value: T): unknown },
  compute: (argument: K) => T,
): (argument: K) => T {
  return (argument) => {
    const value = known.get(argument);
    if (value !== undefined || known.has(argument)) return value as T;
    const computed = compute(argument);
    known.set(argument, computed);
    return computed;
  };
}

/**
 * Returns a function that maps lists. Items that are where they were in the last list are not mapped again: ten thousand objects that
 * are looked up by their identity take ten milliseconds.
 */
export function createListMapper<K, T>(): (items: readonly K[], map: (item: K) => T) => readonly T[] {
  // Weak, because nobody may ask again: the next full collection of garbage forgets what has been replaced since.
  let last: WeakRef<{ items: readonly K[]; values: readonly T[] }> | undefined;
  return (items, map) => {
    const before = last?.deref() ?? { items: [], values: [] };
    const values = new Array<T>(items.length);
    let at = 0;
    for (let place = 0; place < items.length; place += 1) {
      const item = items[place] as K;
      if (before.items[at] !== item && before.items[at + 1] === item) at += 1; // one was removed
      values[place] = before.items[at] === item ? (before.values[at] as T) : map(item);
      at += 1;
    }
    last = new WeakRef({ items, values });
    return values;
  };
}
