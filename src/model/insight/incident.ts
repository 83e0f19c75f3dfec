import { formatDuration, formatInstant } from "../../base/duration.ts";
import { isHolding } from "../../protocol/admission.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { SnapshotEvent } from "../events/event.ts";
import { findProblems } from "../problems/find-problems.ts";
import { formatTicketOwner } from "../snapshot/claims.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { formatShortList } from "../views/short-list.ts";
import type { TimeSpan } from "./forecast.ts";
import { listEventsSince, type SinceInputs } from "./since.ts";

/** One line of the timeline of an incident. Not cleaned. */
export interface IncidentEntry {
  /** Wall clock of the host that wrote it, or of the one that saw it, ms since the epoch. */
  at: number;
  kind: string;
  subject: string;
  detail: string;
}

/** A command that the operator ran. */
interface IncidentCommand {
  at: number;
  /** The line for a shell. */
  line: string;
  result: string;
}

/** Everything that is known about an incident. */
export interface IncidentReport extends TimeSpan {
  title: string;
  cluster: string;
  /** Who wrote the report: `USER@HOST`. */
  by: string;
  /** Oldest first. */
  entries: readonly IncidentEntry[];
  /** Undefined if the state of that time is not known. */
  problemsAtStart: readonly string[] | undefined;
  problemsAtEnd: readonly string[] | undefined;
  commands: readonly IncidentCommand[];
  /** What is missing, and why. */
  notes: readonly string[];
}

/** What the timeline is made from. */
interface IncidentInputs extends SinceInputs {
  snapshot: SinceInputs["snapshot"] & Pick<Snapshot, "queues">;
  /** What a console has seen, and since when. History tells about the time before. */
  seen?: { from: number; events: readonly SnapshotEvent[] };
}

/** Events that the audit log also has, with more detail. */
const AUDITED: ReadonlySet<string> = new Set(["audit", "drained", "undrained"]);
/** Number of names in the note on gaps. */
const SHORT = 5;

/** Lists what happened in a time, from history, the audit log, and what a console has seen. */
export function listIncidentEntries(
  inputs: IncidentInputs,
  span: TimeSpan,
): Pick<IncidentReport, "entries" | "notes"> {
  const { snapshot, seen } = inputs;
  const { events, gaps, completeFrom } = listEventsSince(inputs, span);
  const seenFrom = seen?.from ?? Number.POSITIVE_INFINITY;
  const runs = [...listPastRuns(snapshot), ...listHolds(snapshot)].filter(({ at }) => at < seenFrom);
  const watched = (seen?.events ?? []).filter(({ kind }) => !AUDITED.has(kind)).map(toIncidentEntry);
  const entries = [...events, ...runs, ...watched]
    .filter(({ at }) => at >= span.from && at <= span.until)
    .sort((a, b) => a.at - b.at);
  const names = gaps.map(({ subject }) => subject);
  const note = `the history is complete since ${formatInstant(completeFrom)}; older entries are dropped of ${formatShortList(names, SHORT)}`;
  return { entries, notes: gaps.length === 0 ? [] : [note] };
}

/** Lists the problems of a state as texts. @param wall  ms since the epoch */
export function listProblemTexts(snapshot: Snapshot, wall: number): string[] {
  return findProblems(snapshot, wall).map(({ level, subject, detail }) => `${level}: ${subject}: ${detail}`);
}

function listPastRuns({ histories }: IncidentInputs["snapshot"]): IncidentEntry[] {
  return [...histories].flatMap(([lock, runs]) => runs.flatMap((run) => listRunEntries(`lock ${lock}`, run)));
}

/** Failed ends are events already. */
function listRunEntries(subject: string, run: PastRun): IncidentEntry[] {
  const { host, pid, command, grantedAt, endedAt, waited, held, exit } = run;
  const who = `${command} on ${host}:${pid}`;
  const granted = {
    at: grantedAt,
    kind: "granted",
    subject,
    detail: `${who}, after ${formatDuration(waited)}`,
  };
  if (exit !== 0) return [granted];
  return [granted, { at: endedAt, kind: "ended", subject, detail: `${who}, after ${formatDuration(held)}` }];
}

/** Lists the grants of the runs that still hold something. */
function listHolds({ queues }: IncidentInputs["snapshot"]): IncidentEntry[] {
  return [...queues.values()].flatMap(({ kind, name, entries }) =>
    entries.flatMap((entry): IncidentEntry[] => {
      const at = entry.ticket?.grantedAt;
      if (at === undefined || !isHolding(entry)) return [];
      const detail = `${entry.ticket?.command ?? ""} on ${formatTicketOwner(entry)}, still holds it`;
      return [{ at, kind: "granted", subject: `${kind} ${name}`, detail }];
    }),
  );
}

function toIncidentEntry({ at, kind, text, subject }: SnapshotEvent): IncidentEntry {
  const words = text.startsWith(kind) ? text.slice(kind.length).trim() : text;
  return { at, kind, subject: subject === undefined ? "" : `${subject.kind} ${subject.name}`, detail: words };
}
