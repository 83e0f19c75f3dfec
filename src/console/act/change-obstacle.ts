import type { App } from "../app/app.ts";
import { isLive } from "../sight/connection-state.ts";

/** Returns why nothing can be changed now, or undefined if changes are possible. */
export function findChangeObstacle({
  isReadOnly,
  liveView,
}: Pick<App, "isReadOnly" | "liveView">): string | undefined {
  if (isReadOnly) return "this console is read-only";
  return isLive(liveView.connection) ? undefined : "etcd is unreachable: changes are not possible now";
}
