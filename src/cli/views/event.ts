import { formatBriefDuration, type WallTime } from "../../core/base/clock.ts";
import { collectTexts } from "../../core/base/text.ts";
import type { AuditRecord } from "../../core/protocol/audit.ts";
import { type Drain, formatAuditTarget } from "../../core/protocol/drain.ts";
import type { PastRun } from "../../core/protocol/history.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import { compareByClaim, formatLockName, type QueueEntry } from "../../core/protocol/ticket.ts";
import { type Definition, isPaused, type Pause } from "../../schedule/definition.ts";
import { formatCronText } from "../../schedule/plan.ts";
import type { DueState } from "../../schedule/state/due.ts";
import { listStates } from "../../schedule/state/host-states.ts";
import { getEntryState } from "../../site/state/claims.ts";
import type { Execution, NamedQueue, Snapshot, StoredValue } from "../../site/state/snapshot.ts";
import type { Subject, Tone } from "../../site/state/subject.ts";
import { parseSubject } from "../../site/state/subject.ts";
import { formatExecutionOwner, formatTicketOwner } from "./claims.ts";
import { formatLateness, getResultTone, shortenOwner, shortenResourceName } from "./columns.ts";
import { formatReason } from "./drain-lines.ts";

/** The kinds of events, with their order at the same instant: causes before effects. `more`: events above the limit. */
export const EVENT_RANKS = {
  more: 0,
  host: 1,
  audit: 2,
  configured: 2,
  drained: 2,
  undrained: 2,
  reset: 3,
  malformed: 3,
  ended: 4,
  left: 4,
  granted: 5,
  started: 5,
  admitted: 6,
  waiting: 7,
  watched: 8,
} as const;
type EventKind = keyof typeof EVENT_RANKS;

/** What an event is about, who did it or runs it where, and what came of it. Not cleaned. */
type EventWords = readonly [object: string, owner?: string | undefined, result?: string | undefined];

/** An event between two snapshots. */
export interface SnapshotEvent {
  /** The stated time, adjusted to be between the snapshots. */
  at: WallTime;
  kind: EventKind;
  words: EventWords;
  /** The affected object, as a navigation target. */
  subject: Subject | undefined;
  /** Full name of the host, if any. */
  host?: string;
  tone: Tone;
}

/** Formats an event as one line: `granted  lock backup-db  web1:3121  after 3m`. Not cleaned. */
export function formatEventText({ kind, words }: Pick<SnapshotEvent, "kind" | "words">): string {
  return [kind === "more" ? undefined : kind, ...words].filter(Boolean).join("  ");
}

/** An event before its words are formatted. Only listed events are formatted: an outage may produce many drafts. */
export interface EventDraft extends Omit<SnapshotEvent, "at" | "words" | "host"> {
  /** Stated time. Without one, the event gets the time of the second snapshot. */
  at?: WallTime | undefined;
  host?: string | undefined;
  formatWords(at: WallTime): EventWords;
  /** The lock that the run holds, held or waits for. A grant is placed after the end of the previous holder. */
  lock?: string | undefined;
}

/**
 * Calls a function for each difference between two maps of immutable values. Values are compared by identity.
 * @param tell  receives the name, the old value and the new value
 */
function visitChanges<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  tell: (name: string, was: T | undefined, is: T | undefined) => void,
): void {
  if (before === after) return;
  let common = 0;
  for (const [name, is] of after) {
    const was = before.get(name);
    if (was !== undefined) common += 1;
    if (was !== is) tell(name, was, is);
  }
  if (common === before.size) return;
  for (const [name, was] of before) if (!after.has(name)) tell(name, was, undefined);
}

/** A ticket that was added, changed or removed. */
export interface TicketChange {
  kind: QueueKind;
  name: string;
  was: QueueEntry | undefined;
  is: QueueEntry | undefined;
  /** Number of entries ahead of it now. */
  ahead: number;
}

/** Finds ticket changes by run. The change in the lock comes first. */
function findTicketChanges(before: Snapshot, after: Snapshot): Map<string, TicketChange[]> {
  const runs = new Map<string, TicketChange[]>();
  visitChanges(before.queues, after.queues, (_, was, is) => {
    for (const change of diffQueues(was, is)) {
      const run = (change.is ?? change.was)?.run ?? "";
      const known = runs.get(run);
      if (known === undefined) runs.set(run, [change]);
      else if (change.kind === "lock") known.unshift(change);
      else known.push(change);
    }
  });
  return runs;
}

/** Compares two queues in one pass: both are in the order of claims. */
function diffQueues(before: NamedQueue | undefined, after: NamedQueue | undefined): TicketChange[] {
  const { kind, name } = after ?? before ?? { kind: "lock", name: "" };
  const [old, now] = [before?.entries ?? [], after?.entries ?? []];
  const found: TicketChange[] = [];
  let at = 0;
  for (let ahead = 0; at < old.length || ahead < now.length; ) {
    const [was, is] = [old[at], now[ahead]];
    const order =
      was === undefined ? 1 : is === undefined ? -1 : was.key === is.key ? 0 : compareByClaim(was, is);
    if (order < 0) found.push({ kind, name, was, is: undefined, ahead: 0 });
    else if (order > 0) found.push({ kind, name, was: undefined, is, ahead });
    else if (was !== is) found.push({ kind, name, was, is, ahead });
    if (order <= 0) at += 1;
    if (order >= 0) ahead += 1;
  }
  return found;
}

/** Builds events for changes of drains, configuration, schedules and hosts, and for audit records. */
export function buildOperatorDrafts(before: Snapshot, after: Snapshot): EventDraft[] {
  const drafts: EventDraft[] = [];
  const effects = new Set<string>();
  const add = (target: string, draft: EventDraft) => {
    effects.add(target);
    drafts.push(draft);
  };
  visitChanges(before.drains, after.drains, (_, was, is) => {
    const drain = is ?? was;
    if (drain !== undefined)
      add(formatAuditTarget(drain), is === undefined ? buildUndrainedDraft(drain) : buildDrainedDraft(is));
  });
  const addConfigured = (
    kind: "resource" | "group" | "schedule",
    name: string,
    formatChange: (at: WallTime) => string,
  ) =>
    add(`${kind} ${name}`, {
      kind: "configured",
      tone: "plain",
      subject: { kind, name },
      formatWords: (at) => [`${kind} ${name}`, undefined, formatChange(at)],
    });
  visitChanges(before.resources, after.resources, (name, was, is) =>
    addConfigured("resource", name, () => `${formatStoredTotal(was)} → ${formatStoredTotal(is)}`),
  );
  visitChanges(before.groups, after.groups, (name, was, is) =>
    addConfigured("group", name, () => formatMemberChange(was, is)),
  );
  visitChanges(before.schedules, after.schedules, (name, was, is) =>
    addConfigured("schedule", name, (at) => formatDefinitionChange(was, is, at)),
  );
  visitChanges(before.hosts, after.hosts, (name, was, is) => {
    if (was === undefined || is === undefined) drafts.push(buildHostDraft(name, is === undefined));
  });
  visitChanges(before.audit, after.audit, (_, was, is) => {
    if (is === undefined || was?.outcome === is.outcome) return;
    // The change itself already has an event with more details.
    if (was === undefined && ACTIONS_WITH_EVENTS.has(is.action) && effects.has(is.target)) return;
    drafts.push(buildAuditDraft(is));
  });
  return drafts;
}

/** Operator actions whose changes have their own events. */
const ACTIONS_WITH_EVENTS = new Set<AuditRecord["action"]>([
  "drain",
  "undrain",
  "group",
  "resource",
  "schedule",
]);

function buildDrainedDraft(drain: Drain): EventDraft {
  const { scope, name, by, why, at } = drain;
  return {
    kind: "drained",
    tone: "problem",
    at: at > 0 ? at : undefined,
    subject: { kind: "drain", scope, name },
    host: scope === "host" ? name : undefined,
    formatWords: () => [formatAuditTarget(drain), shortenOwner(by), why],
  };
}

function buildUndrainedDraft(drain: Drain): EventDraft {
  const { scope, name } = drain;
  return {
    kind: "undrained",
    tone: "free",
    host: scope === "host" ? name : undefined,
    subject: scope === "all" ? undefined : { kind: scope, name },
    formatWords: (at) => [
      formatAuditTarget(drain),
      undefined,
      drain.until !== undefined && drain.until <= at ? "its time had passed" : undefined,
    ],
  };
}

function formatStoredTotal(kept: StoredValue<{ total?: string }> | undefined): string {
  if (kept === undefined) return "none";
  return kept.fault === undefined ? (kept.value.total ?? "stated by runs") : "malformed";
}

function formatMemberChange(
  was: StoredValue<readonly string[]> | undefined,
  is: StoredValue<readonly string[]> | undefined,
): string {
  if (is === undefined) return "removed";
  if (is.fault !== undefined) return "malformed";
  const [old, now] = [new Set(was?.value), new Set(is.value)];
  const come = [...now].filter((member) => !old.has(member));
  const gone = [...old].filter((member) => !now.has(member));
  const texts = [...formatNames("+", come), ...formatNames("-", gone)];
  return texts.length === 0 ? "the same members" : texts.join(" ");
}

/** Maximum number of names listed. */
const MAX_LISTED_NAMES = 3;

function formatNames(sign: "+" | "-", names: readonly string[]): string[] {
  const more = names.length > MAX_LISTED_NAMES ? [`${sign}${names.length - MAX_LISTED_NAMES} more`] : [];
  return [...names.slice(0, MAX_LISTED_NAMES).map((name) => `${sign}${shortenOwner(name)}`), ...more];
}

function buildHostDraft(name: string, isGone: boolean): EventDraft {
  return {
    kind: "host",
    tone: "plain",
    host: name,
    subject: { kind: "host", name },
    formatWords: () => [name, undefined, isGone ? "forgotten" : "seen for the first time"],
  };
}

function buildAuditDraft(record: AuditRecord): EventDraft {
  const { id, at, user, host, action, target, reason, outcome } = record;
  return {
    kind: "audit",
    tone: "plain",
    at,
    host,
    subject: { kind: "record", name: id, ...parseSubject(target) },
    formatWords: () => [
      target,
      shortenOwner(`${user}@${host}`),
      [target.startsWith(`${action} `) ? undefined : action, outcome, reason].filter(Boolean).join(": "),
    ],
  };
}

/** Builds events of runs from changes in tickets and in lock histories. */
export function buildRunDrafts(before: Snapshot, after: Snapshot): EventDraft[] {
  const ended = findEndedRuns(before, after);
  const drafts: EventDraft[] = [];
  for (const [run, changes] of findTicketChanges(before, after)) {
    if (ended.has(run)) continue;
    const draft = buildRunDraft(run, changes);
    if (draft !== undefined) drafts.push(draft);
  }
  for (const [run, { locks, past }] of ended) drafts.push(buildRunEndDraft(run, locks, past));
  return drafts;
}

/** A run that has ended, and its locks. */
interface EndedRun {
  locks: string[];
  past: PastRun;
}

/** Finds runs that were added to histories, by run id. */
function findEndedRuns(before: Snapshot, after: Snapshot): Map<string, EndedRun> {
  const found = new Map<string, EndedRun>();
  visitChanges(before.histories, after.histories, (lock, was = [], is = []) => {
    const known = new Set(was.map(({ run }) => run));
    for (const past of is) {
      if (known.has(past.run)) continue;
      const run = found.get(past.run);
      if (run === undefined) found.set(past.run, { locks: [lock], past });
      else run.locks.push(lock);
    }
  });
  return found;
}

function buildRunEndDraft(run: string, locks: readonly string[], past: PastRun): EventDraft {
  const [lock = "", ...more] = locks;
  const { host, pid, exit, held, endedAt, reason } = past;
  const names = [lock, ...more].map((name) => formatLockName(name, past)).join(" ");
  const how = `exit ${exit} after ${formatBriefDuration(held)}${formatReason(reason)}`;
  return {
    at: endedAt,
    kind: "ended",
    tone: exit === 0 ? "quiet" : "problem",
    host,
    subject: { kind: "record", name: run, about: { kind: "lock", name: lock }, isEndedRun: true },
    lock,
    formatWords: () => [`lock ${names}`, shortenOwner(`${host}:${pid}`), how],
  };
}

/** Builds the event for the ticket changes of a run. The first change determines its kind. */
function buildRunDraft(run: string, changes: readonly TicketChange[]): EventDraft | undefined {
  const [main] = changes;
  const entry = main?.is ?? main?.was;
  const kind = main && findEventKind(main);
  if (main === undefined || entry === undefined || kind === undefined) return undefined;
  const { name } = main;
  const at = { kind: main.kind, name };
  const isGone = kind === "ended" || kind === "left";
  return {
    kind,
    tone: TONES[kind],
    at: findInstant(kind, entry),
    host: entry.ticket?.host,
    subject: isGone
      ? { kind: "record", name: run, about: at, isEndedRun: true }
      : { kind: "run", name: run, queue: at },
    lock: main.kind === "lock" ? name : undefined,
    formatWords: (noticed) => [
      formatTicketNames(changes),
      shortenOwner(formatTicketOwner(entry)),
      formatCircumstances(kind, main, noticed),
    ],
  };
}

type RunEventKind = Extract<
  EventKind,
  "waiting" | "admitted" | "granted" | "ended" | "left" | "reset" | "malformed"
>;

const TONES: Readonly<Record<RunEventKind, Tone>> = {
  waiting: "waiting",
  admitted: "waiting",
  granted: "held",
  ended: "quiet",
  left: "quiet",
  reset: "problem",
  malformed: "problem",
};

function findEventKind({ was, is }: TicketChange): RunEventKind | undefined {
  const [old, now] = [was && getEntryState(was), is && getEntryState(is)];
  if (now === "malformed") return old === "malformed" ? undefined : "malformed";
  if (now === undefined || now === "grace") {
    // The run of an entry in grace has already ended.
    if (old === "grace") return undefined;
    return old === "held" || now === "grace" ? "ended" : "left";
  }
  if (now === "held" && old !== "held") return "granted";
  if (is?.ticket?.reset !== undefined && was?.ticket?.reset === undefined) return "reset";
  if (now === "admitted" && old !== "admitted") return "admitted";
  return old === undefined ? "waiting" : undefined;
}

function findInstant(kind: RunEventKind, { ticket }: QueueEntry): number | undefined {
  if (kind === "granted") return ticket?.grantedAt;
  if (kind === "waiting") return ticket?.enqueuedAt;
  return kind === "reset" ? ticket?.reset?.at : undefined;
}

/** Formats the lock and the leases: `lock backup-db db=2`; without a lock `resource db=2`. */
function formatTicketNames(changes: readonly TicketChange[]): string {
  const [first, second, ...more] = changes.map(({ kind, name, is, was }) => {
    const ticket = (is ?? was)?.ticket;
    return kind === "lock"
      ? formatLockName(name, ticket)
      : `${shortenResourceName(name)}=${ticket?.count ?? "?"}`;
  });
  return [changes[0]?.kind, first, second, more.length > 0 ? `+${more.length}` : undefined]
    .filter((name) => name !== undefined)
    .join(" ");
}

function formatCircumstances(
  kind: RunEventKind,
  { kind: of, was, is, ahead }: TicketChange,
  at: WallTime,
): string | undefined {
  const ticket = (is ?? was)?.ticket;
  if (ticket === undefined) return undefined;
  const { enqueuedAt, grantedAt, reset } = ticket;
  switch (kind) {
    case "granted":
      return grantedAt === undefined ? undefined : `after ${formatBriefDuration(grantedAt - enqueuedAt)}`;
    case "waiting":
      return ahead > 0 ? `behind ${ahead}` : undefined;
    case "left":
      return `after ${formatBriefDuration(Math.max(0, at - enqueuedAt))}`;
    case "ended":
      return is === undefined && of === "lock" ? "its end is not recorded" : undefined;
    case "reset":
      return `asked by ${reset?.by}${formatReason(reset?.why)}`;
    default:
      return undefined;
  }
}

/** Builds events for started and ended occurrences of schedules. */
export function buildExecutionDrafts(before: Snapshot, after: Snapshot): EventDraft[] {
  const drafts: EventDraft[] = [];
  visitChanges(before.executions, after.executions, (id, was = [], is = []) => {
    const known = new Set(was.map(({ token }) => token));
    for (const one of is) if (!known.has(one.token)) drafts.push(buildStartedDraft(id, one));
  });
  visitChanges(before.dues, after.dues, (id, was, is) => {
    const old = new Map(listStates(was?.value));
    const isPausedByOperator = [before, after].some(({ schedules }) => schedules.get(id)?.value?.pause);
    const executions = [...(before.executions.get(id) ?? []), ...(after.executions.get(id) ?? [])];
    for (const [host, { pause, last }] of listStates(is?.value)) {
      const earlier = old.get(host);
      const isToldElsewhere = pause === undefined && isPausedByOperator;
      if (earlier?.pause?.at !== pause?.at && !isToldElsewhere)
        drafts.push(buildOwnPauseDraft(id, host, pause));
      // Without a previous state it is unknown whether the outcome is new.
      if (last !== undefined && earlier !== undefined && earlier.last?.run !== last.run)
        drafts.push(buildOccurrenceEndDraft(id, last, executions));
    }
  });
  return drafts;
}

/** Builds the event of a schedule that has paused itself, or of the end of that pause. */
function buildOwnPauseDraft(id: string, host: string | undefined, pause: Pause | undefined): EventDraft {
  const where = host === undefined ? "" : ` on ${host}`;
  const words = pause === undefined ? `resumed${where}` : `paused by ${pause.by}${where}: ${pause.why}`;
  return {
    kind: "configured",
    tone: pause === undefined ? "plain" : "problem",
    at: pause?.at,
    subject: { kind: "schedule", name: id },
    formatWords: () => [`schedule ${id}`, undefined, words],
  };
}

function buildStartedDraft(id: string, execution: Execution): EventDraft {
  const { value } = execution;
  return {
    kind: "started",
    tone: "held",
    at: value?.since,
    host: value?.host,
    subject: { kind: "schedule", name: id },
    formatWords: () => [
      `schedule ${id}`,
      shortenOwner(formatExecutionOwner(execution)),
      value &&
        collectTexts([
          value.attempt > 1 && `attempt ${value.attempt}`,
          value.late >= 1_000 && `${formatLateness(value.late)} late`,
        ]).join(", "),
    ],
  };
}

/** @param executions  includes the execution that ended, if it was in a snapshot */
function buildOccurrenceEndDraft(
  id: string,
  last: NonNullable<DueState["last"]>,
  executions: readonly Execution[],
): EventDraft {
  const own = executions.find(({ value }) => value?.run === last.run);
  const { result, startedAt, endedAt } = last;
  return {
    kind: "ended",
    tone: getResultTone(result),
    at: endedAt,
    host: own?.value?.host,
    subject: { kind: "schedule", name: id },
    formatWords: () => [
      `schedule ${id}`,
      own && shortenOwner(formatExecutionOwner(own)),
      `${result} after ${formatBriefDuration(endedAt - startedAt)}`,
    ],
  };
}

function formatDefinitionChange(
  was: StoredValue<Definition> | undefined,
  is: StoredValue<Definition> | undefined,
  at: WallTime,
): string {
  if (is === undefined) return "deleted";
  if (is.value === undefined) return "malformed";
  if (was === undefined) return `added: ${formatCronText(is.value.cron)}`;
  const [old, now] = [
    was.value !== undefined && isPaused(was.value, undefined, at),
    isPaused(is.value, undefined, at),
  ];
  if (old === now) return "changed";
  return now ? `paused by ${is.value.pause?.by ?? "?"}` : "resumed";
}
