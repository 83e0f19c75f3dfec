import type { JsonFault } from "../base/json-fault.ts";
import type { ConfigChange } from "../fleet/config-changes.ts";
import type { ConfigImpact } from "../model/config-impact/impact.ts";
import type { DrainExtent } from "../model/preview/drain-extent.ts";
import type { EvictionPreview } from "../model/preview/eviction-preview.ts";
import type { RunnerLiveness } from "../model/rows/liveness.ts";
import type { Claim } from "../model/snapshot/claims.ts";
import type { Drain, DrainTarget } from "../protocol/drain.ts";
import type { Definition } from "../schedule/definition.ts";
import type { DueState } from "../schedule/state/due.ts";

/** What a command did or would do, as values. docs/json.md describes the JSON that is made of them. */
export type OperationResult =
  | EvictionResult
  | DrainResult
  | UndrainResult
  | ConfigResult
  | ScheduleResult
  | PruneResult
  | FaultyDocument
  | AbandonedEdit;

/**
 * How an action ended. `nothing`: there was nothing to do; `declined`: the user said no; `changed`: refused, because what
 * it concerns has changed.
 */
type CommonOutcome = "nothing" | "dry-run" | "declined" | "changed" | "done";

/** Of `reset` and `release`. `asked`: the runs were asked to end, and were not waited for. */
export interface EvictionResult {
  kind: "eviction";
  outcome: CommonOutcome | "asked" | "timeout";
  revision: bigint;
  action: "reset" | "release";
  /** As in the audit: `lock invoices`. */
  target: string;
  preview: EvictionPreview;
  /** The runners whose state was read. */
  runners: readonly RunnerRecord[];
}

/** The state of a runner. `left` and `ttl` are seconds of its session, if known. */
export interface RunnerRecord {
  run: string;
  /** Its host and process, for people. */
  who: string;
  verdict: RunnerLiveness["verdict"];
  left: number | undefined;
  ttl: number | undefined;
}

/** Of `drain`. `standing`: a drain that needs no change exists. `lifted`: the drain ended while it was waited for. */
export interface DrainResult {
  kind: "drain";
  outcome:
    | ("drained" | "replaced" | "standing" | "lifted" | "timeout")
    | Exclude<CommonOutcome, "nothing" | "done">;
  revision: bigint;
  target: DrainTarget;
  extent: DrainExtent;
  /** The drain that is in effect afterwards. */
  drain: Drain | undefined;
  /** Drains of the same target before. */
  before: readonly Drain[];
  holders: readonly Claim[];
  /** Whether holders that remain after the wait are ended. */
  endsHolders: boolean;
}

export interface UndrainResult {
  kind: "undrain";
  outcome: Exclude<CommonOutcome, "done"> | "lifted";
  revision: bigint;
  target: DrainTarget;
  drains: readonly Drain[];
  /** Other drains that still stop the target. */
  others: readonly Drain[];
  /** The claims that wait in the queues of the target. */
  waiters: readonly Claim[];
}

/** A change of groups and resources. */
export interface ConfigResult {
  kind: "configuration";
  outcome: CommonOutcome;
  revision: bigint;
  action: string;
  /** As in the audit: `group web`. */
  target: string;
  changes: readonly ConfigChange[];
  /** The runs that the changes affect. */
  affected: ConfigImpact["affected"];
}

/** A change of schedules. */
export interface ScheduleResult {
  kind: "schedules";
  outcome: CommonOutcome;
  revision: bigint;
  target: string;
  changes: readonly ScheduleChangeRecord[];
  /** The calendar that was changed; its days are null if it was deleted. */
  calendar?: { name: string; days: readonly string[] | null };
}

export type ScheduleChangeKind = "added" | "deleted" | "paused" | "resumed" | "triggered" | "changed";

/** A change of one field, as text; undefined if the field is absent. */
export interface FieldChange {
  field: string;
  before: string | undefined;
  after: string | undefined;
}

/** A change of one schedule. */
export interface ScheduleChangeRecord {
  id: string;
  kind: ScheduleChangeKind;
  /** The fields that differ, and the new definition; undefined if the definition stays. */
  fields: readonly FieldChange[] | undefined;
  definition: Definition | undefined;
  due: DueState | undefined;
}

export interface PruneResult {
  kind: "prune";
  outcome: CommonOutcome;
  revision: bigint;
  /** Number of audit records. */
  audit: number;
  /** Full names of hosts. */
  hosts: readonly string[];
  /** Ids of the runs whose marks are deleted. */
  vanished: readonly string[];
}

/** A document that cannot be imported. Nothing was changed. */
export interface FaultyDocument {
  kind: "faulty";
  /** Undefined if etcd was not read. */
  revision: bigint | undefined;
  faults: readonly (string | JsonFault)[];
}

/** The user gave up in the editor. Nothing was changed. */
export interface AbandonedEdit {
  kind: "abandoned";
}
