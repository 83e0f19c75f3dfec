import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Store } from "../etcd/store.ts";
import type { Keys } from "../protocol/keys.ts";

/** What an agent needs from its environment. */
export interface AgentPorts {
  /** Combines the transactions that are committed at the same time. */
  store: Store;
  /** Combines proofs of the sessions only: they do not wait for the transactions of runs. */
  proofStore: Store;
  keys: Keys;
  clock: Clock;
  random: Random;
  log: Log;
  /** Full name of this host. */
  host: string;
  /** Returns the value of a session's key: who owns the session. Differs from that of every other agent. */
  describeSession(session: bigint): string;
  /**
   * Kills every process of a run on this host whose claim no agent knows.
   * @returns whether it is certain that none is left
   */
  killRun(run: string): Promise<boolean>;
}
