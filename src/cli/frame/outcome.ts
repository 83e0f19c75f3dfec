import { EXIT } from "../../core/base/errors.ts";
import type { JsonFault } from "../../core/base/json-fault.ts";
import type { ConfigChange } from "../../core/fleet/configuration.ts";
import type { Drain, DrainTarget } from "../../core/protocol/drain.ts";
import type { Definition } from "../../schedule/definition.ts";
import type { DueState } from "../../schedule/state/due.ts";
import type { CalendarChange } from "../../site/operate/calendar-changes.ts";
import type { SiteAction } from "../../site/operate/operator-action.ts";
import type { Claim } from "../../site/state/claims.ts";
import type { DrainExtent } from "../../site/state/drain-extent.ts";
import type { EvictionPreview } from "../../site/state/eviction-preview.ts";
import type { ConfigImpact } from "../../site/state/impact.ts";
import type { RunnerLiveness } from "../../site/state/liveness.ts";

/** What a command did or would do, as values. docs/json.md describes the JSON that is made of them. */
export type OperationResult =
  | EvictionResult
  | DrainResult
  | UndrainResult
  | SiteResult
  | ScheduleResult
  | PruneResult
  | FaultyDocument
  | AbandonedEdit;

/**
 * How an action ended. `nothing`: there was nothing to do; `declined`: the user said no; `changed`: refused, because what
 * it concerns has changed.
 */
type CommonOutcome = "nothing" | "dry-run" | "declined" | "changed" | "done";

/** Of `reset`. `asked`: the runs were asked to end, and were not waited for. */
export interface EvictionResult {
  kind: "eviction";
  outcome: CommonOutcome | "asked" | "timeout";
  revision: bigint;
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

/** A change of groups, resources, calendars and schedules. */
export interface SiteResult {
  kind: "site";
  outcome: CommonOutcome;
  revision: bigint;
  /** As in the audit. */
  action: SiteAction;
  /** As in the audit: `site`, `group web`. */
  target: string;
  config: readonly ConfigChange[];
  calendars: readonly CalendarChange[];
  /** Undefined if it has nothing to do with schedules. */
  schedules: readonly ScheduleChangeRecord[] | undefined;
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
}

export type ScheduleChangeKind = "added" | "deleted" | "paused" | "resumed" | "triggered" | "changed";

/** A change of one field, as text; undefined if the field is absent. */
export interface FieldChange {
  field: string;
  before: string | undefined;
  after: string | undefined;
}

export interface ScheduleChangeRecord {
  id: string;
  /** The host whose state changes, if the schedule runs on every host. */
  host?: string;
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
  /** As in the audit. */
  target: string;
  /** Number of audit records. */
  audit: number;
  /** Full names of hosts. */
  hosts: readonly string[];
  /** Ids of the runs whose marks are deleted. */
  vanished: readonly string[];
  /** Number of records that the settings do not keep. */
  expired: number;
}

/** A document that cannot be imported. Nothing was changed. */
export interface FaultyDocument {
  kind: "faulty";
  faults: readonly (string | JsonFault)[];
}

/** The user gave up in the editor. Nothing was changed. */
interface AbandonedEdit {
  kind: "abandoned";
}

/** What a command that acts has done, or would do with `--dry-run`. `printOutcome` prints it. */
export interface ActionOutcome<R extends OperationResult = OperationResult> {
  exitCode: number;
  result: R;
  /** For people, one sentence each. */
  messages: readonly string[];
  /**
   * One key for each message of a dry run. The key of a message stays the same as time passes, though its ages and counts
   * change. Undefined: the messages themselves.
   */
  messageKeys?: readonly string[] | undefined;
  /** Warnings, one sentence each. The command prints them before it acts or asks. */
  notes: readonly string[];
  /** What was not done because something has changed, if a part was done. */
  undone?: string | undefined;
  /** The flags that do what a dry run shows. */
  repeat?: string | undefined;
  /** Whether something prevented or limited the action. Then its text goes to standard error. */
  isFault: boolean;
  /** Advice, printed on standard error after everything else. */
  advice?: readonly string[];
}

/** Returns an outcome with further advice. */
export function addAdvice<R extends OperationResult>(
  outcome: ActionOutcome<R>,
  advice: readonly string[],
): ActionOutcome<R> {
  return { ...outcome, advice: [...(outcome.advice ?? []), ...advice] };
}

/** The beginning of every message that an action was refused or declined. */
export const NOTHING_CHANGED = "nothing was changed";

/** Lists the messages of an outcome, with the line that says how to do what a dry run shows. */
export function listOutcomeMessages({ messages, repeat }: ActionOutcome): readonly string[] {
  return repeat === undefined ? messages : [...messages, `do it with ${repeat} instead of --dry-run`];
}

/** The result of a command that came as far as a decision. */
export type DecidedResult = Exclude<OperationResult, FaultyDocument | AbandonedEdit>;

/** The texts of an outcome, for people. */
type OutcomeTexts = Pick<ActionOutcome, "messages" | "messageKeys" | "repeat" | "undone"> &
  Partial<Pick<ActionOutcome, "notes">>;

/** Creates the outcome of an action, with its exit code. */
export function createOutcome<R extends DecidedResult>(
  { flags }: { flags: Readonly<Record<string, unknown>> },
  result: R,
  { notes = [], ...texts }: OutcomeTexts,
): ActionOutcome<R> {
  const exitCode = getExitCode(result, flags.strict === true);
  const isFault = exitCode === EXIT.changed || exitCode === EXIT.timeout;
  return { exitCode, result, notes, isFault, ...texts };
}

function getExitCode({ kind, outcome }: DecidedResult, isStrict: boolean): number {
  switch (outcome) {
    case "nothing":
    case "standing":
      return isStrict ? EXIT.undone : EXIT.ok;
    case "declined":
      return EXIT.undone;
    case "changed":
      return EXIT.changed;
    case "timeout":
      return EXIT.timeout;
    case "lifted":
      return kind === "drain" ? EXIT.changed : EXIT.ok; // of a drain: while it was waited for
    default:
      return EXIT.ok;
  }
}

/**
 * Creates the outcome of a document that cannot be imported.
 * @param lines  the faults, for people
 */
export function createFaultyOutcome(
  faults: FaultyDocument["faults"],
  lines: readonly string[],
): ActionOutcome<FaultyDocument> {
  return createRefusal({ kind: "faulty", faults }, [...lines, NOTHING_CHANGED]);
}

/** Creates the outcome of a text that the user left with faults. */
export function createAbandonedOutcome(): ActionOutcome<AbandonedEdit> {
  return createRefusal({ kind: "abandoned" }, []);
}

function createRefusal<R extends OperationResult>(result: R, messages: readonly string[]): ActionOutcome<R> {
  return { exitCode: EXIT.config, result, messages, notes: [], isFault: true };
}
