import type { ObserverPorts } from "../observe/ports.ts";

/** What checking etcd needs from its environment. */
export interface CheckPorts extends ObserverPorts {
  /** Aborts when the result is not needed any more. */
  signal?: AbortSignal;
}
