import { parseGroupMembers } from "../../fleet/groups.ts";
import { type HostRecord, parseHostRecord } from "../../fleet/host-record.ts";
import { parseResourceConfig, type ResourceConfig } from "../../fleet/resources.ts";
import { parseAgentReport, parseAgentSession } from "../../protocol/agent-record.ts";
import { type AuditRecord, parseAuditRecord } from "../../protocol/audit.ts";
import { type Drain, parseDrain } from "../../protocol/drain.ts";
import { FollowedKeys } from "../../protocol/followed-keys.ts";
import { type PastRun, parsePastRuns } from "../../protocol/history.ts";
import type { Keys, ParsedKey } from "../../protocol/keys.ts";
import { toQueueEntry } from "../../protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../../protocol/txn.ts";
import { type Calendar, parseCalendar } from "../../schedule/calendar/calendar.ts";
import { type Definition, parseDefinition } from "../../schedule/definition.ts";
import { type DueState, parseDue } from "../../schedule/state/due.ts";
import { parseWorker } from "../../schedule/state/worker-record.ts";
import { CowMap } from "./cow-map.ts";
import { ExecutionIndex } from "./execution-index.ts";
import { QueueIndex } from "./queue-index.ts";
import { SharedValues } from "./shared-values.ts";
import type {
  Collection,
  Snapshot,
  StoredAgentReport,
  StoredAgentSession,
  StoredValue,
  StoredWorker,
} from "./snapshot.ts";

/** Builds snapshots from reads and watch events. */
export class SnapshotBuilder extends FollowedKeys {
  readonly ranges: readonly Required<KeyRange>[];
  readonly #keys: Keys;
  readonly #queues = new QueueIndex();
  readonly #shared = new SharedValues();
  readonly #resources = new CowMap<StoredValue<ResourceConfig>>();
  readonly #groups = new CowMap<StoredValue<readonly string[]>>();
  readonly #calendars = new CowMap<StoredValue<Calendar>>();
  readonly #drains = new CowMap<Drain>();
  readonly #hosts = new CowMap<HostRecord>();
  readonly #agentSessions = new CowMap<StoredAgentSession>();
  readonly #agentReports = new CowMap<StoredAgentReport>();
  readonly #histories = new CowMap<readonly PastRun[]>();
  readonly #audit = new CowMap<AuditRecord>();
  readonly #schedules = new CowMap<StoredValue<Definition>>();
  readonly #dues = new CowMap<StoredValue<DueState>>();
  readonly #executions = new ExecutionIndex();
  readonly #outcomes = new CowMap<string>();
  readonly #workers = new CowMap<StoredWorker>();
  readonly #strange = new CowMap<string>();
  /** The snapshot to return during a read: a partial read is not consistent at any revision. */
  #frozen: Snapshot | undefined;

  /** @param more  further key ranges, for example one queue */
  constructor(keys: Keys, collections: readonly Collection[], more: readonly Required<KeyRange>[] = []) {
    super();
    this.#keys = keys;
    this.ranges = [...collections.map((collection) => keys[collection]()), ...more];
  }

  override begin(): void {
    this.#frozen ??= this.getSnapshot();
    super.begin();
  }

  override finish(revision: bigint): void {
    super.finish(revision);
    this.#frozen = undefined;
  }

  getSnapshot(): Snapshot {
    if (this.#frozen !== undefined) return this.#frozen;
    return {
      revision: this.revision,
      queues: this.#queues.getAll(),
      resources: this.#resources.getAll(),
      groups: this.#groups.getAll(),
      calendars: this.#calendars.getAll(),
      drains: this.#drains.getAll(),
      hosts: this.#hosts.getAll(),
      agentSessions: this.#agentSessions.getAll(),
      agentReports: this.#agentReports.getAll(),
      histories: this.#histories.getAll(),
      audit: this.#audit.getAll(),
      schedules: this.#schedules.getAll(),
      dues: this.#dues.getAll(),
      executions: this.#executions.getAll(),
      outcomes: this.#outcomes.getAll(),
      workers: this.#workers.getAll(),
      strange: this.#strange.getAll(),
    };
  }

  protected override storeKey(kv: KeyValue): void {
    this.#strange.delete(kv.key);
    const at = this.#keys.parseQueueKey(kv.key);
    if (at !== undefined) this.#queues.put(at, this.#shared.share(toQueueEntry(kv)));
    else if (!this.#store(kv)) this.#strange.put(kv.key, "not a key or a value of signalbox");
  }

  /** Stores a parsed value. @returns false if the key or its value is not from signalbox */
  #store(kv: KeyValue): boolean {
    const { key, value, modRevision, session } = kv;
    const parsed = this.#keys.parse(key);
    switch (parsed.kind) {
      case "resourceConfig":
        return this.#resources.put(parsed.name, { modRevision, ...parseResourceConfig(value) });
      case "group":
        return this.#groups.put(parsed.name, { modRevision, ...parseGroupMembers(value) });
      case "calendar":
        return this.#calendars.put(parsed.name, { modRevision, ...parseCalendar(value) });
      case "host":
        return this.#hosts.put(parsed.name, parseHostRecord(parsed.name, value));
      case "agentSession":
      case "agentReport":
        return this.#storeAgent(parsed, kv);
      case "history":
        return this.#histories.put(parsed.name, parsePastRuns(value));
      case "drain":
        return this.#drains.put(key, parseDrain(this.#keys, kv));
      case "audit":
        return this.#audit.put(parsed.name, parseAuditRecord(parsed.name, value));
      case "schedule":
        return this.#schedules.put(parsed.name, { modRevision, ...parseDefinition(value) });
      case "due":
        return this.#dues.put(parsed.name, { modRevision, ...parseDue(value) });
      case "running":
        return this.#executions.put(parsed.name, kv);
      case "outcomes":
        return this.#outcomes.put(parsed.name, value);
      case "worker":
        return this.#workers.put(parsed.name, { modRevision, session, ...parseWorker(value) });
      case "outputRequest":
      case "outputChunk":
        return true; // on their way to a viewer
      default:
        return false;
    }
  }

  #storeAgent(
    parsed: Extract<ParsedKey, { kind: "agentSession" | "agentReport" }>,
    { key, value, session }: KeyValue,
  ): boolean {
    const host = parsed.name;
    if (parsed.kind === "agentSession") {
      const record = parseAgentSession(value);
      return this.#agentSessions.put(key, record && { ...record, host, session });
    }
    const report = parseAgentReport(value);
    return this.#agentReports.put(key, report && { ...report, host, agent: parsed.agent });
  }

  protected override removeKey(key: string): void {
    this.#strange.delete(key);
    const at = this.#keys.parseQueueKey(key);
    if (at !== undefined) this.#queues.delete(at, key);
    else this.#remove(key);
  }

  #remove(key: string): void {
    const parsed = this.#keys.parse(key);
    if (parsed.kind === "resourceConfig") this.#resources.delete(parsed.name);
    if (parsed.kind === "group") this.#groups.delete(parsed.name);
    if (parsed.kind === "calendar") this.#calendars.delete(parsed.name);
    if (parsed.kind === "host") this.#hosts.delete(parsed.name);
    if (parsed.kind === "agentSession") this.#agentSessions.delete(key);
    if (parsed.kind === "agentReport") this.#agentReports.delete(key);
    if (parsed.kind === "history") this.#histories.delete(parsed.name);
    if (parsed.kind === "drain") this.#drains.delete(key);
    if (parsed.kind === "audit") this.#audit.delete(parsed.name);
    if (parsed.kind === "schedule") this.#schedules.delete(parsed.name);
    if (parsed.kind === "due") this.#dues.delete(parsed.name);
    if (parsed.kind === "running") this.#executions.delete(parsed.name, key);
    if (parsed.kind === "outcomes") this.#outcomes.delete(parsed.name);
    if (parsed.kind === "worker") this.#workers.delete(parsed.name);
  }
}
