import type { Command } from "../cli/frame/command.ts";
import { addMs, type BootTime, type Clock, LONG_AGO, type WallTime } from "../core/base/clock.ts";
import type { FileReader } from "../core/config/files.ts";
import type { Settings } from "../core/config/settings.ts";
import type { HostFacts } from "../core/fleet/host.ts";
import type { SpanSender } from "../core/process/span-sender.ts";
import type { RunPorts } from "../core/run/request.ts";
import type { Successors } from "../core/run/successors.ts";
import type { Accounts } from "./accounts.ts";
import type { AgentPorts } from "./fence.ts";
import type { NoteSeal } from "./note-seal.ts";
import type { SharedSessions } from "./shared-sessions.ts";

/** Archives the runs of callers in the files that their settings name. */
export interface AgentArchive {
  chooseFile(settings: Settings): RunPorts["archivePastRun"];
  /** Waits until everything is written. */
  close(): Promise<void>;
}

/** The context that all calls of an agent share. */
export interface AgentContext extends AgentPorts {
  settings: Settings;
  readBootTime(): BootTime;
  sessions: SharedSessions;
  successors: Successors;
  accounts: Accounts;
  /** Facts of the hosts that calls name, by host and macros. */
  callerFacts: BriefCache<HostFacts>;
  userNames: BriefCache<string>;
  /** Configuration files by their paths. */
  configFiles: BriefCache<{ read: ReturnType<FileReader> }>;
  seal: NoteSeal;
  /** Sends the spans of runs; undefined if the environment of this process names no collector. */
  spans: SpanSender | undefined;
  /** Archives the runs of all callers. */
  archive: AgentArchive;
  /** The commands that the agent serves. Other front ends read and write files as their caller. */
  served: readonly Command[];
  /** Facts of this host. */
  facts: HostFacts;
  statistics: AgentStatistics;
  /** Id of this start of the agent. */
  incarnation: string;
}

/** Counts what an agent has done since its start. */
export class AgentStatistics {
  /** Start of the agent, wall clock, ms since the epoch. */
  readonly since: WallTime;
  /** Calls that were served to their end. */
  served = 0;
  /** Calls that were declined, by reason. A reason is one of a few words. */
  readonly declined = new Map<string, number>();

  constructor(since: WallTime) {
    this.since = since;
  }

  countDeclined(reason: string, count = 1): void {
    this.declined.set(reason, (this.declined.get(reason) ?? 0) + count);
  }
}

/** How long a value is kept, ms: the jobs of one minute share it, and those of the next minute see changes. */
const CACHE_TIME_MS = 2_000;

/** Caches values that cost system calls for a short time, because many calls arrive at the same time. */
export class BriefCache<T> {
  readonly #clock: Clock;
  readonly #values = new Map<string, T>();
  #until = LONG_AGO;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the value of a key. Reads it if it is not cached. @throws what `read` throws */
  get(key: string, read: () => T): T {
    const now = this.#clock.now();
    if (now >= this.#until) {
      this.#values.clear();
      this.#until = addMs(now, CACHE_TIME_MS);
    }
    const kept = this.#values.get(key);
    if (kept !== undefined) return kept;
    const value = read();
    this.#values.set(key, value);
    return value;
  }
}
