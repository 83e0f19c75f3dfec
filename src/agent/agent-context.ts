import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { FileReader } from "../config/files.ts";
import type { Settings } from "../config/settings.ts";
import type { Store } from "../etcd/store.ts";
import type { HostFacts } from "../fleet/host.ts";
import type { Keys } from "../protocol/keys.ts";
import type { SharedSessions } from "../work/agent/shared-sessions.ts";
import type { Successors } from "../work/run/claim/successors.ts";
import type { Accounts } from "./accounts.ts";
import type { BriefCache } from "./brief-cache.ts";
import type { NoteSeal } from "./note-seal.ts";
import type { AgentStatistics } from "./statistics.ts";

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
