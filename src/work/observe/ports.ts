import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { persist } from "../../etcd/persist.ts";
import type { Store } from "../../etcd/store.ts";
import type { Keys } from "../../protocol/keys.ts";

/** What looking at etcd needs of the world. */
export interface ObserverPorts {
  store: Store;
  keys: Keys;
  clock: Clock;
  random: Random;
  /** Milliseconds. */
  settings: { connectTimeout: number };
}

/** Repeats a call while etcd does not answer, for as long as a connection may take. @throws StoreError */
export function patiently<T>(
  ports: ObserverPorts,
  call: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return persist(ports, ports.clock.now() + ports.settings.connectTimeout, call, signal);
}
