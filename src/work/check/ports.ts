import type { ObserverPorts } from "../observe/ports.ts";

/** What checking etcd needs of the world. */
export interface CheckPorts extends ObserverPorts {
  /** Aborted when nobody wants to know any more. */
  signal?: AbortSignal;
}
