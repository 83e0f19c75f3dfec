import { type Keys, keysUnder } from "./keys.ts";

/** The prefix below ours, as CRONLOCK_DB makes one, of which a key is: what looks strange here may be held there. */
export function prefixBelow({ prefix }: Keys, key: string): string | undefined {
  const [below] = /^db\d+\//.exec(key.slice(prefix.length)) ?? [];
  if (below === undefined || !key.startsWith(prefix)) return undefined;
  const inner = `${prefix}${below}`;
  return keysUnder(inner).parse(key).kind === "unknown" ? undefined : inner;
}
