/** Returns a function that computes the value of each argument once. */
export function memoize<K, T>(compute: (argument: K) => T): (argument: K) => T {
  return remember(new Map(), compute);
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
    if (!known.has(argument)) known.set(argument, compute(argument));
    return known.get(argument) as T;
  };
}
