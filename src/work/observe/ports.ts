import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { retryUnavailable } from "../../etcd/retry.ts";
import type { Store } from "../../etcd/store.ts";
import type { Keys } from "../../protocol/keys.ts";

/** What reading etcd needs from its environment. */
export interface ObserverPorts {
  store: Store;
  keys: Keys;
  clock: Clock;
  random: Random;
  /** In ms. */
  settings: { connectTimeout: number };
}

/** Retries a call while etcd does not answer, at most for the connect timeout. @throws StoreError */
export function retryUntilConnectTimeout<T>(
  ports: ObserverPorts,
  call: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return retryUnavailable(ports, ports.clock.now() + ports.settings.connectTimeout, call, signal);
}
