import { isLive } from "../data/connection-state.ts";
import type { DataAccess, SettingsAccess } from "./parts.ts";

/** Returns why nothing can be changed now, or undefined if changes are possible. */
export function findChangeObstacle({
  isReadOnly,
  liveView,
}: DataAccess & SettingsAccess): string | undefined {
  const past = findPastObstacle({ liveView });
  if (past !== undefined) return past;
  if (isReadOnly) return "this console is read-only";
  return isLive(liveView.connection) ? undefined : "etcd is unreachable: changes are not possible now";
}

/** Returns why no command can run now: in the past, its output would be about the present. */
export function findPastObstacle({ liveView }: Pick<DataAccess, "liveView">): string | undefined {
  return liveView.past === undefined
    ? undefined
    : "this is the past: nothing can be changed or run; a returns to live";
}
