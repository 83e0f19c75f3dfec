import { createKeys, type Keys } from "./keys.ts";

/**
 * Finds the nested prefix (`db<number>/`, as CRONLOCK_DB creates it) that a key belongs to. A key that is unknown here
 * may be a valid key under that prefix.
 */
export function findNestedPrefix({ prefix }: Keys, key: string): string | undefined {
  const [below] = /^db\d+\//.exec(key.slice(prefix.length)) ?? [];
  if (below === undefined || !key.startsWith(prefix)) return undefined;
  const inner = `${prefix}${below}`;
  return createKeys(inner).parse(key).kind === "unknown" ? undefined : inner;
}
