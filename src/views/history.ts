import { formatBriefDuration, formatInstant } from "../base/duration.ts";
import { quoteShellWord } from "../base/shell.ts";
import type { PastRun } from "../protocol/history.ts";
import { MOST_KEPT } from "../schedule/definition-values.ts";
import {
  DEAD_LETTERS_LENGTH,
  type OccurrenceOutcome,
  type OutcomeHistory,
} from "../schedule/state/outcome.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { Tone } from "../state/subject.ts";
import {
  createNumberColumn,
  createOwnerColumn,
  createStateColumn,
  formatLateness,
  getResultTone,
} from "./columns.ts";
import {
  buildDetailTable,
  buildOwnerCell,
  type Cell,
  type DetailTarget,
  type ItemColumn,
  type Section,
} from "./detail.ts";
import type { SnapshotView } from "./view.ts";

/** A finished run, and the lock whose history contains it. */
interface PastRunRow {
  lock: string;
  past: PastRun;
}

/** The result of a past run. `ended`: signalbox ended its command; `killed`: a signal from another process did. */
type PastRunState = "ok" | "failed" | "killed" | "ended";

export const historyView: SnapshotView<PastRunRow> = {
  of: "snapshot",
  id: "history",
  brief: "history: the last runs of every lock, how they ended",
  collections: ["histories"],
  columns: [
    {
      id: "ended",
      title: "ENDED",
      priority: 1,
      formatCell: ({ past }) => formatInstant(past.endedAt),
      getSortValue: ({ past }) => past.endedAt,
    },
    { id: "lock", title: "LOCK", priority: 1, formatCell: ({ lock }) => lock },
    createOwnerColumn("who", "WHO", 2, formatRunOwner),
    createStateColumn(2, getPastStateTone, ({ past }) => getPastState(past)),
    createNumberColumn("exit", "EXIT", 1, ({ past }) => past.exit, { zero: "plain", other: "problem" }),
    {
      id: "waited",
      title: "WAITED",
      priority: 3,
      align: "right",
      formatCell: ({ past }) => formatBriefDuration(past.waited),
      getSortValue: ({ past }) => past.waited,
      unit: "duration",
      getMeasure: ({ past }) => past.waited,
    },
    {
      id: "held",
      title: "HELD",
      priority: 2,
      align: "right",
      formatCell: ({ past }) => formatBriefDuration(past.held),
      getSortValue: ({ past }) => past.held,
      unit: "duration",
      getMeasure: ({ past }) => past.held,
    },
    { id: "reason", title: "REASON", priority: 3, formatCell: ({ past }) => past.reason ?? "" },
    { id: "command", title: "COMMAND", priority: 4, formatCell: ({ past }) => past.command },
    { id: "label", title: "LABEL", priority: 6, formatCell: ({ past }) => past.label ?? "" },
    { id: "run", title: "RUN", isRandom: true, priority: 9, formatCell: ({ past }) => past.run },
    { id: "token", title: "TOKEN", priority: 9, align: "right", formatCell: ({ past }) => past.token },
  ],
  sort: "-ended",
  getKey: ({ lock, past }) => `${lock}/${past.run}`,
  getFacets: (row) => ({
    states: listPastStates(row.past),
    hosts: [row.past.host],
    holders: [formatRunOwner(row)],
  }),
  getSubject: ({ lock, past }) => ({
    kind: "record",
    name: past.run,
    isEndedRun: true,
    about: { kind: "lock", name: lock },
  }),
  getInstant: ({ past }) => past.endedAt,
  toJson: toPastRunJson,
  buildRows: buildPastRows,
  empty: "No runs yet. A run appears when it has ended: signalbox run --lock demo -- true",
};

/** Rows of unchanged histories: there may be 20 for each of 10,000 locks. */
const cachedRows = new WeakMap<readonly PastRun[], readonly PastRunRow[]>();

function buildPastRows({ histories }: Snapshot): PastRunRow[] {
  const rows: PastRunRow[] = [];
  for (const [lock, runs] of histories) {
    const known = cachedRows.get(runs) ?? runs.map((past) => ({ lock, past }));
    cachedRows.set(runs, known);
    for (const row of known) rows.push(row);
  }
  return rows;
}

/** Exit codes above this are 128 plus a signal number, as in a shell. */
const BY_SIGNAL = 128;

function getPastState({ exit, reason }: PastRun): PastRunState {
  if (reason !== undefined) return "ended";
  if (exit === 0) return "ok";
  return exit > BY_SIGNAL ? "killed" : "failed";
}

function getPastStateTone(state: PastRunState): Tone {
  return state === "ok" ? "quiet" : "problem";
}

/** Lists the states for filters: every run with an exit code other than 0 is also `failed`. */
function listPastStates(past: PastRun): string[] {
  const state = getPastState(past);
  return past.exit === 0 || state === "failed" ? [state] : [state, "failed"];
}

function formatRunOwner({ past: { host, pid } }: PastRunRow): string {
  return `${host}:${pid}`;
}

/** Returns a past run for JSON output. Wall clocks in ms since the epoch, durations in ms. */
function toPastRunJson({ lock, past }: PastRunRow): object {
  const { run, host, pid, command, label, token, enqueuedAt, grantedAt, endedAt } = past;
  const { waited, held, exit, reason } = past;
  return {
    lock,
    run,
    state: getPastState(past),
    host,
    pid,
    command,
    label,
    token,
    enqueuedAt,
    grantedAt,
    endedAt,
    waited,
    held,
    exit,
    reason,
  };
}

const COLUMNS: readonly ItemColumn<OccurrenceOutcome>[] = [
  { title: "ENDED", priority: 1, getCell: ({ endedAt }) => formatInstant(endedAt) },
  { title: "RESULT", priority: 1, isMarked: true, getCell: buildResultCell },
  { title: "SCHEDULED", priority: 2, getCell: formatScheduled },
  { title: "HOST", priority: 2, getCell: ({ host = "" }) => buildOwnerCell(host) },
  { title: "TOOK", priority: 2, align: "right", getCell: formatRunTime },
  { title: "LATE", priority: 3, align: "right", getCell: ({ late }) => formatIfKnown(late, formatLateness) },
  { title: "ATTEMPT", priority: 4, align: "right", getCell: ({ attempt }) => formatIfKnown(attempt, String) },
  { title: "CODE", priority: 2, align: "right", getCell: ({ code }) => formatIfKnown(code, String) },
  { title: "REASON", priority: 2, getCell: ({ reason }) => reason },
];

function buildResultCell({ result }: OccurrenceOutcome): Cell {
  return { text: result, tone: getResultTone(result) };
}

function formatRunTime({ startedAt, endedAt }: OccurrenceOutcome): string | undefined {
  return formatIfKnown(startedAt, (start) => formatBriefDuration(endedAt - start));
}

function formatIfKnown(value: number | undefined, format: (value: number) => string): string | undefined {
  return value === undefined ? undefined : format(value);
}

/** Builds the table of the last outcomes, newest first. */
export function buildOutcomeTable(id: string, runs: readonly OccurrenceOutcome[]): Section[] {
  return buildDetailTable("history", COLUMNS, runs, {
    most: MOST_KEPT,
    getTarget: (run) => ({ title: `${id}: ${run.result}`, lines: formatOutcome(run) }),
  });
}

/** Formats one outcome, with its output at the end. */
function formatOutcome(outcome: OccurrenceOutcome): string[] {
  const { result, endedAt, host, code, reason, tail = "" } = outcome;
  const how = [code === undefined ? "" : `code ${code}`, reason ?? ""].filter(Boolean).join(", ");
  return [
    `${result}${how === "" ? "" : `: ${how}`}`,
    `scheduled ${formatScheduled(outcome)}, ended ${formatInstant(endedAt)}${host === undefined ? "" : ` on ${host}`}`,
    "",
    ...(tail.trim() === "" ? ["It wrote nothing."] : tail.trimEnd().split("\n")),
  ];
}

/** Builds the table of dead letters: occurrences that failed and are not retried. */
export function buildDeadLetterTable(id: string, dead: readonly OccurrenceOutcome[]): Section[] {
  const [first] = dead;
  if (first === undefined) return [];
  const again = `signalbox schedule trigger ${quoteShellWord(id)} --dead`;
  const which = dead.length === 1 ? "it again" : "all again";
  const value = dead.length === 1 ? first.scheduled : "all";
  return buildDetailTable(`dead letters; to run ${which}: ${again} ${value}`, COLUMNS, dead, {
    most: DEAD_LETTERS_LENGTH,
    getTarget: (letter) => buildDeadLetterTarget(id, letter),
  });
}

/** Builds the target of a dead letter: Enter runs it again after a preview. */
function buildDeadLetterTarget(id: string, letter: OccurrenceOutcome): DetailTarget {
  return {
    title: `dead letter of ${id}`,
    lines: formatOutcome(letter),
    remedy: { command: "schedule trigger", args: [id], flags: { dead: String(letter.scheduled) } },
  };
}

/** Formats the scheduled time. Consecutive skipped occurrences are one outcome: first, last and count. */
function formatScheduled({ count = 1, scheduled, until }: OccurrenceOutcome): string {
  if (count <= 1 || until === undefined) return formatInstant(scheduled);
  return `${formatInstant(scheduled)} … ${formatInstant(until)} (${count})`;
}

/** Maximum lines of output below the heading, and in the section further below. */
const FIRST_LINES = 6;
const MOST_LINES = 30;

/** A run of a lock or schedule that has ended, and the end of its output if that is stored. */
interface EndedRun {
  endedAt: number;
  result: string;
  tail?: string;
}

/**
 * Builds a section with the end of the output of the last run that had output.
 * @param ended  newest first
 * @param most  maximum number of lines
 */
function buildOutputSection(ended: readonly EndedRun[], most: number): Section[] {
  const newest = ended.find(({ tail = "" }) => tail.trim() !== "");
  if (newest?.tail === undefined) return [];
  const lines = newest.tail.trimEnd().split("\n");
  const more = lines.length > most ? ` (the last ${most} of ${lines.length} lines)` : "";
  const title = `output of the run that ended ${formatInstant(newest.endedAt)}: ${newest.result}${more}`;
  return [{ kind: "lines", title, lines: lines.slice(-most) }];
}

/** Builds a section with the last lines of output, for the top of the detail. */
export function buildLastOutput({ runs, dead }: OutcomeHistory): Section[] {
  return buildOutputSection([...runs, ...dead], FIRST_LINES);
}

/** The same for the runs of a lock, newest first. */
export function buildLastRunOutput(runs: readonly PastRun[]): Section[] {
  const ended = runs.map(({ exit, ...run }) => ({ ...run, result: `exit code ${exit}` }));
  return buildOutputSection(ended, FIRST_LINES);
}

/** Builds a section with more lines of output; none if the first section already has all of them. */
export function buildLongerOutput(outcomes: OutcomeHistory): Section[] {
  const [all] = buildOutputSection([...outcomes.runs, ...outcomes.dead], MOST_LINES);
  return all?.kind === "lines" && all.lines.length > FIRST_LINES ? [all] : [];
}
