import { isLive } from "../../data/connection-state.ts";
import type { ConsoleData } from "../../parts/parts.ts";

/** Returns why nothing can be changed now, or undefined if changes are possible. */
export function findChangeObstacle({ isReadOnly, liveView }: ConsoleData): string | undefined {
  if (isReadOnly) return "this console is read-only";
  return isLive(liveView.connection) ? undefined : "etcd is unreachable: changes are not possible now";
}
