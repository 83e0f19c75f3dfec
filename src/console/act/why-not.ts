import type { App } from "../app/app.ts";
import { isLive } from "../sight/standing.ts";

/** Why nothing can be changed now; undefined where it can. */
export function whyNot({ isReadOnly, sight }: Pick<App, "isReadOnly" | "sight">): string | undefined {
  if (isReadOnly) return "read-only: nothing can be changed here";
  return isLive(sight.standing) ? undefined : "etcd is away: nothing can be changed before it is back";
}
