import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { FileReader } from "../config/files.ts";
import type { Settings } from "../config/settings.ts";
import type { Store } from "../etcd/store.ts";
import type { HostFacts } from "../fleet/host.ts";
import type { Keys } from "../protocol/keys.ts";
import type { Successors } from "../run/successors.ts";
import type { Accounts } from "./accounts.ts";
import type { BriefCache } from "./brief-cache.ts";
import type { NoteSeal } from "./note-seal.ts";
import type { SharedSessions } from "./shared-sessions.ts";

/** What all calls of an agent share. */
export interface AgentContext {
  settings: Settings;
  store: Store;
  keys: Keys;
  clock: Clock;
  /** Reads the boot-time clock, ms. */
  readBootTime(): number;
  random: Random;
  log: Log;
  sessions: SharedSessions;
  successors: Successors;
  accounts: Accounts;
  /** Of hosts as calls name them. */
  callerFacts: BriefCache<HostFacts>;
  userNames: BriefCache<string>;
  /** Configuration files by their paths. */
  configFiles: BriefCache<{ read: ReturnType<FileReader> }>;
  seal: NoteSeal;
  /** Of this host. */
  facts: HostFacts;
  statistics: AgentStatistics;
  /** Id of this start of the agent. */
  incarnation: string;
}

/** Counts what an agent has done since its start. */
export class AgentStatistics {
  /** Start of the agent, wall clock, ms since the epoch. */
  readonly since: number;
  readonly #declined = new Map<string, number>();
  #served = 0;

  constructor(since: number) {
    this.since = since;
  }

  /** Calls that were served to their end. */
  get served(): number {
    return this.#served;
  }

  /** Calls that were declined, by reason. */
  get declined(): ReadonlyMap<string, number> {
    return this.#declined;
  }

  countServed(): void {
    this.#served += 1;
  }

  /** @param reason  one word, of a small number of words */
  countDeclined(reason: string, count = 1): void {
    this.#declined.set(reason, (this.#declined.get(reason) ?? 0) + count);
  }
}
