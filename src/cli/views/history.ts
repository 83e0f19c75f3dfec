import { formatBriefDuration, formatInstant, type WallTime } from "../../core/base/clock.ts";
import { pickDefined } from "../../core/base/pick-defined.ts";
import { quoteShellWord } from "../../core/base/shell.ts";
import { formatShortList } from "../../core/base/text.ts";
import { HISTORY_LENGTH, isPastRun, type PastRun } from "../../core/protocol/history.ts";
import { MOST_KEPT, SCHEDULE_DEFAULTS } from "../../schedule/definition-values.ts";
import {
  DEAD_LETTERS_LENGTH,
  isFailure,
  isOutcome,
  OCCURRENCE_RESULTS,
  type OccurrenceOutcome,
  type OccurrenceResult,
  type OutcomeHistory,
} from "../../schedule/state/outcome.ts";
import type { PastUse } from "../../site/state/resource-use.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import { isFailedResult } from "../../site/state/timeline.ts";
import {
  createDurationColumn,
  createNumberColumn,
  createOwnerColumn,
  createRightColumn,
  createStateColumn,
  createTextColumn,
  formatIfKnown,
  formatLateness,
  formatPairs,
  getResultTone,
  selectColumns,
} from "./columns.ts";
import { buildDetailTable, type DetailTarget, type Section } from "./detail.ts";
import {
  describeChoice,
  describeField,
  describeFieldsOf,
  describeFlag,
  describeInstant,
  describeInteger,
  describeNumber,
  describeObject,
  describeRevision,
  describeText,
} from "./json.ts";
import type { RowLists, SnapshotView, TableColumn } from "./view.ts";

/** A finished run, and its lock; or an outcome of a schedule. */
export interface PastRunRow {
  lock?: string;
  schedule?: string;
  /** Only of a schedule. */
  outcome?: OccurrenceOutcome;
  past: Pick<PastRun, "endedAt"> & Partial<PastRun>;
}

/** Returns the row of a record of an archive; undefined if it is of another kind. */
export function parseArchivedRun({
  lock,
  schedule,
  ...fields
}: Record<string, unknown>): PastRunRow | undefined {
  if (typeof lock === "string" && isPastRun(fields)) return { lock, past: fields };
  return typeof schedule === "string" && isOutcome(fields) ? toOutcomeRow(schedule, fields) : undefined;
}

function toOutcomeRow(schedule: string, outcome: OccurrenceOutcome): PastRunRow {
  const { run, host, token, reason, endedAt, startedAt, late, code, tail, leases } = outcome;
  const held = startedAt === undefined ? undefined : endedAt - startedAt;
  const known = pickDefined({
    run,
    host,
    token,
    reason,
    exit: code,
    waited: late,
    grantedAt: startedAt,
    held,
    tail,
    leases,
  });
  return { schedule, outcome, past: { endedAt, ...known } };
}

/** The result of a past run. `ended`: signalbox ended its command; `killed`: a signal from another process did. */
const PAST_RUN_STATES = ["ok", "failed", "killed", "ended"] as const;
type PastRunState = (typeof PAST_RUN_STATES)[number] | OccurrenceResult;
const ALL_STATES = [...new Set<PastRunState>([...PAST_RUN_STATES, ...OCCURRENCE_RESULTS])];

export const historyView: SnapshotView<PastRunRow> = {
  of: "snapshot",
  id: "history",
  brief: "history: the last runs of every lock and schedule, how they ended",
  collections: ["histories", "outcomeHistories", "schedules"],
  columns: [
    createTextColumn("ended", 1, ({ past }) => formatInstant(past.endedAt), {
      getSortValue: ({ past }) => past.endedAt,
    }),
    createTextColumn("lock", 1, ({ lock }) => lock),
    createTextColumn("schedule", 1, ({ schedule }) => schedule),
    createOwnerColumn("who", 2, formatRunOwner),
    createStateColumn(2, (state) => (QUIET_STATES.has(state) ? "quiet" : "problem"), getPastState),
    createNumberColumn("exit", 1, ({ past }) => past.exit, { tones: ["plain", "problem"] }),
    createDurationColumn("waited", 3, ({ past }) => past.waited),
    createDurationColumn("held", 2, ({ past }) => past.held),
    createTextColumn("reason", 3, ({ past }) => past.reason),
    createTextColumn("command", 4, ({ past }) => past.command),
    createTextColumn("leases", 5, ({ past }) => formatPairs(past.leases)),
    createTextColumn("label", 6, ({ past }) => past.label),
    createTextColumn("scheduled", 4, ({ outcome }) => outcome && formatScheduled(outcome)),
    createNumberColumn("attempt", 6, ({ outcome }) => outcome?.attempt),
    createTextColumn("run", 9, ({ past }) => past.run, { isRandom: true }),
    createRightColumn("token", 9, ({ past }) => past.token),
    createTextColumn("output", 9, ({ past }) => past.tail?.trimEnd().split("\n").at(-1)),
  ],
  sort: "-ended",
  getKey: ({ lock = "", schedule, past, outcome }) =>
    schedule === undefined
      ? `${lock}/${past.run}`
      : `${schedule}@${outcome?.scheduled}/${past.run ?? `${past.host ?? ""} ${past.endedAt}`}`,
  getFacets: (row) => ({
    states: listPastStates(row),
    hosts: row.past.host === undefined ? [] : [row.past.host],
    holders: [formatRunOwner(row)],
  }),
  getSubject: ({ lock = "", schedule, past }) => ({
    kind: "record",
    name: past.run ?? "",
    isEndedRun: true,
    about: schedule === undefined ? { kind: "lock", name: lock } : { kind: "schedule", name: schedule },
  }),
  getInstant: ({ past }) => past.endedAt,
  json: describeObject(
    "pastRun",
    "A run that has ended, of a lock or of a schedule. The history of a lock has its last 20 runs, that of a schedule its last 20 outcomes (`--keep`) and its dead letters.",
    {
      "lock?": describeText("name of the lock", "lock"),
      "schedule?": describeText("instead of the lock: id of the schedule", "schedule"),
      "run?": describeText("id of the run; an occurrence that was skipped has none", ({ past }) => past.run),
      state: describeChoice(
        ALL_STATES,
        "result of the run. `ok`: exit code 0; `killed`: exit code above 128, by a signal; `ended`: signalbox ended the command, see `reason`. Of a schedule: the result of the outcome",
        getPastState,
      ),
      ...describeFieldsOf(({ outcome }: PastRunRow) => outcome, {
        "scheduled?": describeInstant("of a schedule: nominal time of the occurrence", "scheduled"),
        "attempt?": describeInteger("of a schedule: number of the attempt, from 1", "attempt"),
        "deviation?": describeText(
          "of a schedule: `overrun` or `too-short`, if it did not take as long as expected",
          "deviation",
        ),
        "count?": describeInteger("of a schedule: number of skipped occurrences", "count"),
        "until?": describeInstant("of a schedule: the last skipped occurrence", "until"),
      }),
      ...describeFieldsOf(({ past }: PastRunRow) => past, {
        "host?": describeText("full name of the run's host", "host"),
        "pid?": describeInteger("process id of the runner of a lock", "pid"),
        "command?": describeText("base name of the command that held a lock", "command"),
        "label?": describeText("label from `--label`", "label"),
        "shared?": describeFlag("`true`: the run shared the lock", "shared"),
        "leases?": describeField(
          {
            type: "object",
            additionalProperties: { type: "integer" },
            description: "units that the run held, by resource",
          },
          "leases",
        ),
        "token?": describeRevision("fencing token", "token"),
        "enqueuedAt?": describeInstant("time of the claim of a lock", "enqueuedAt"),
        "grantedAt?": describeInstant("time of the grant, or of the start", "grantedAt"),
        endedAt: describeInstant("time of the end", "endedAt"),
        "waited?": describeNumber("duration of the wait, or how late the start was, ms", "waited"),
        "held?": describeNumber("duration of the hold, or of the run, ms", "held"),
        "exit?": describeInteger(
          "exit code of the command; 128 plus the signal number if a signal killed it",
          "exit",
        ),
        "reason?": describeText(
          "why signalbox ended the command, if it did; why the run of a schedule ended so",
          "reason",
        ),
        "tail?": describeText("end of the output, if it was kept", "tail"),
      }),
    },
  ),
  buildRows: (snapshot) => listPastRuns(snapshot).flat(),
  buildLists: listPastRuns,
  empty: "No runs yet. A run appears when it has ended: signalbox run --lock demo -- true",
  elsewhere:
    "etcd has the last runs of each lock and schedule; hosts may have archived more: signalbox ls history --archive",
  describeGap: describeHistoryGap,
};

/** The same for an archive of this host. */
export const archiveView: SnapshotView<PastRunRow> = {
  ...historyView,
  empty: "The archive has no runs.",
  elsewhere: "An archive has what its host has run; etcd may have more: signalbox ls history",
  describeGap: () => undefined,
};

/** Says that etcd does not have all runs since an instant any more: a history is full, and its oldest run is newer. */
function describeHistoryGap(
  { histories, outcomes, schedules }: Snapshot,
  from: WallTime,
): string | undefined {
  const isCut = (runs: readonly { endedAt: WallTime }[], most: number) =>
    runs.length >= most && runs.every(({ endedAt }) => endedAt > from);
  const locks = [...histories].flatMap(([lock, runs]) =>
    isCut(runs, HISTORY_LENGTH) ? [`lock ${lock}`] : [],
  );
  const cut = [...outcomes].flatMap(([id, { runs }]) => {
    const { keep = SCHEDULE_DEFAULTS.keep } = schedules.get(id)?.value ?? {};
    return isCut(runs, keep) ? [`schedule ${id}`] : [];
  });
  const all = [...locks, ...cut];
  if (all.length === 0) return undefined;
  return `etcd may not have all runs since ${formatInstant(from)} any more: of ${formatShortList(all, 3)}, it has only newer ones; hosts may have archived them: signalbox ls history --archive`;
}

const DETAIL_COLUMNS = selectColumns(historyView.columns, {
  ended: 1,
  who: 1,
  waited: 2,
  held: 2,
  exit: 1,
  command: 4,
  reason: 2,
});

export function buildPastRunTable(lock: string, runs: readonly PastRun[]): Section[] {
  const rows = runs.map((past) => ({ lock, past }));
  return buildDetailTable("history", DETAIL_COLUMNS, rows, {
    all: `signalbox ls history ${quoteShellWord(lock)}`,
    getTarget: buildPastRunTarget,
  });
}

function buildPastRunTarget({ lock, past }: { lock: string; past: PastRun }): DetailTarget {
  const { host, pid, command, exit, reason, waited, held, grantedAt, endedAt, token } = past;
  return {
    title: `run ${past.run} of lock ${lock}`,
    lines: [
      `${command} on ${host}:${pid} ended with ${exit}${reason === undefined ? "" : ` (${reason})`}`,
      `granted ${formatInstant(grantedAt)}, ended ${formatInstant(endedAt)}`,
      `waited ${formatBriefDuration(waited)}, held ${formatBriefDuration(held)}, token ${token}`,
    ],
  };
}

/** Rows of unchanged histories: there may be 20 for each of 10,000 locks. */
const cachedRows = new WeakMap<object, readonly PastRunRow[]>();

/** Lists the runs of each lock, and the outcomes of each schedule if they were read. */
function listPastRuns({ histories, outcomes }: Snapshot): RowLists<PastRunRow> {
  const find = (history: object, build: () => readonly PastRunRow[]) => {
    const rows = cachedRows.get(history) ?? build();
    cachedRows.set(history, rows);
    return rows;
  };
  return [
    ...Array.from(histories, ([lock, runs]) => find(runs, () => runs.map((past) => ({ lock, past })))),
    ...Array.from(outcomes, ([id, history]) =>
      find(history, () => listOutcomes(history).map((outcome) => toOutcomeRow(id, outcome))),
    ),
  ];
}

/** Lists the outcomes of a schedule: those kept, and the dead letters that are older. */
export function listOutcomes({ runs, dead }: OutcomeHistory): OccurrenceOutcome[] {
  const isKept = (letter: OccurrenceOutcome) =>
    runs.some(({ run, scheduled, endedAt }) =>
      letter.run === undefined
        ? scheduled === letter.scheduled && endedAt === letter.endedAt
        : run === letter.run,
    );
  return [...runs, ...dead.filter((letter) => !isKept(letter))];
}

/** Exit codes above this are 128 plus a signal number, as in a shell. */
const BY_SIGNAL = 128;

function getPastState({ outcome, past: { exit = 0, reason } }: PastRunRow): PastRunState {
  if (outcome !== undefined) return outcome.result;
  if (reason !== undefined) return "ended";
  if (exit === 0) return "ok";
  return exit > BY_SIGNAL ? "killed" : "failed";
}

/** What has not failed. */
const QUIET_STATES: ReadonlySet<PastRunState> = new Set([
  "ok",
  "retry",
  "released",
  "replaced",
  "canceled",
  "skipped",
]);

/** Lists the states for filters: every run with an exit code other than 0 is also `failed`. */
function listPastStates(row: PastRunRow): string[] {
  const state = getPastState(row);
  const hasFailed = row.outcome === undefined ? row.past.exit !== 0 : isFailure(row.outcome.result);
  return hasFailed && state !== "failed" ? [state, "failed"] : [state];
}

const USE_COLUMNS: readonly TableColumn<PastUse>[] = [
  createTextColumn("ended", 1, ({ endedAt }) => formatInstant(endedAt)),
  createRightColumn("units", 1, ({ units }) => String(units)),
  createTextColumn("of", 1, ({ subject }) => subject),
  createOwnerColumn("host", 2, ({ host, pid }) => (pid === undefined ? host : `${host}:${pid}`)),
  createDurationColumn("waited", 2, ({ enqueuedAt, grantedAt }) => grantedAt - enqueuedAt),
  createDurationColumn("held", 2, ({ grantedAt, endedAt }) => endedAt - grantedAt),
  createTextColumn("result", 3, ({ result }) => result, {
    getTone: ({ result }) => (isFailedResult(result) ? "problem" : "quiet"),
  }),
];

/** Builds the table of the last uses of a resource, newest first. */
export function buildPastUseTable(resource: string, uses: readonly PastUse[]): Section[] {
  return buildDetailTable("history", USE_COLUMNS, uses, {
    all: `signalbox show resource ${quoteShellWord(resource)} --json`,
  });
}

function formatRunOwner({ past: { host = "", pid } }: PastRunRow): string {
  return pid === undefined ? host : `${host}:${pid}`;
}

export const RESULT_COLUMN: TableColumn<Pick<OccurrenceOutcome, "result">> = createTextColumn(
  "result",
  1,
  ({ result }) => result,
  { isMarked: true, getTone: ({ result }) => getResultTone(result) },
);

const COLUMNS: readonly TableColumn<OccurrenceOutcome>[] = [
  createTextColumn("ended", 1, ({ endedAt }) => formatInstant(endedAt)),
  RESULT_COLUMN,
  createTextColumn("scheduled", 2, formatScheduled),
  createOwnerColumn("host", 2, ({ host = "" }) => host),
  createRightColumn("took", 2, formatRunTime, {
    getTone: ({ deviation }) => (deviation === undefined ? "plain" : "problem"),
  }),
  createRightColumn("late", 3, ({ late }) => formatIfKnown(late, formatLateness)),
  createNumberColumn("attempt", 4, ({ attempt }) => attempt),
  createNumberColumn("code", 2, ({ code }) => code),
  createTextColumn("reason", 2, ({ reason }) => reason),
];

/** Formats how long a run took, and whether that was expected: `25m overrun`. */
function formatRunTime({ startedAt, endedAt, deviation }: OccurrenceOutcome): string | undefined {
  const mark = deviation === undefined ? "" : ` ${deviation}`;
  return formatIfKnown(startedAt, (start) => `${formatBriefDuration(endedAt - start)}${mark}`);
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
export function buildDeadLetterTarget(id: string, letter: OccurrenceOutcome): DetailTarget {
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

/**
 * Builds a section with the end of the output of the last run that had output.
 * @param ended  runs of a lock or schedule, newest first
 * @param most  maximum number of lines
 */
function buildOutputSection(
  ended: readonly { endedAt: WallTime; result: string; tail?: string }[],
  most: number,
): Section[] {
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
