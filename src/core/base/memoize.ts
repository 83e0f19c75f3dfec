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
    if (!known.has(argument)) known.set(argument, compute(argument));
    return known.get(argument) as T;
  };
}
