import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import {
  type OccurrenceOutcome,
  OUTCOMES_LENGTH,
  type OutcomeHistory,
} from "../../schedule/state/outcome.ts";
import { formatLateness, getResultTone } from "../tables/schedules.ts";
import {
  buildDetailTable,
  buildOwnerCell,
  type Cell,
  type DetailColumn,
  type DetailTarget,
  type Section,
} from "./detail.ts";

const COLUMNS: readonly DetailColumn[] = [
  { title: "ENDED", priority: 1 },
  { title: "RESULT", priority: 1, isMarked: true },
  { title: "SCHEDULED", priority: 2 },
  { title: "HOST", priority: 2 },
  { title: "TOOK", priority: 2, align: "right" },
  { title: "LATE", priority: 3, align: "right" },
  { title: "ATTEMPT", priority: 4, align: "right" },
  { title: "CODE", priority: 2, align: "right" },
  { title: "REASON", priority: 2 },
];

/** Builds the table of the last outcomes, newest first. */
export function buildOutcomeTable(id: string, runs: readonly OccurrenceOutcome[]): Section[] {
  const targets = runs.map((run) => ({ title: `${id}: ${run.result}`, lines: formatOutcome(run) }));
  return buildDetailTable("history", COLUMNS, runs.map(buildOutcomeCells), {
    most: OUTCOMES_LENGTH,
    targets,
  });
}

/** Formats one outcome, with its output at the end. */
function formatOutcome(outcome: OccurrenceOutcome): string[] {
  const { result, scheduled, endedAt, host, code, reason, tail = "" } = outcome;
  const how = [code === undefined ? "" : `code ${code}`, reason ?? ""].filter(Boolean).join(", ");
  return [
    `${result}${how === "" ? "" : `: ${how}`}`,
    `scheduled ${formatScheduled(outcome, scheduled)}, ended ${formatInstant(endedAt)}${host === undefined ? "" : ` on ${host}`}`,
    "",
    ...(tail.trim() === "" ? ["It wrote nothing."] : tail.trimEnd().split("\n")),
  ];
}

/** Builds the table of dead letters: occurrences that failed and are not retried. */
export function buildDeadLetterTable(id: string, dead: readonly OccurrenceOutcome[]): Section[] {
  const [first] = dead;
  if (first === undefined) return [];
  const again = `signalbox schedule trigger ${quoteShellWord(id)} --dead ${first.scheduled}`;
  return buildDetailTable(
    `dead letters; to run the first again: ${again}`,
    COLUMNS,
    dead.map(buildOutcomeCells),
    {
      ...{ most: OUTCOMES_LENGTH, targets: dead.map((letter) => buildDeadLetterTarget(id, letter)) },
    },
  );
}

/** Builds the target of a dead letter: Enter runs it again after a preview. */
function buildDeadLetterTarget(id: string, letter: OccurrenceOutcome): DetailTarget {
  return {
    title: `dead letter of ${id}`,
    lines: formatOutcome(letter),
    remedy: { command: "schedule trigger", args: [id], flags: { dead: String(letter.scheduled) } },
  };
}

function buildOutcomeCells(outcome: OccurrenceOutcome): Cell[] {
  const { endedAt, result, scheduled, host = "", startedAt, late, attempt, code, reason } = outcome;
  const toTextCell = (value: unknown) => ({ text: value === undefined ? "" : String(value) });
  return [
    ...[{ text: formatInstant(endedAt) }, { text: result, tone: getResultTone(result) }],
    ...[{ text: formatScheduled(outcome, scheduled) }, buildOwnerCell(host)],
    toTextCell(startedAt === undefined ? undefined : formatBriefDuration(endedAt - startedAt)),
    ...[
      toTextCell(late === undefined ? undefined : formatLateness(late)),
      toTextCell(attempt),
      toTextCell(code),
      toTextCell(reason),
    ],
  ];
}

/** Formats the scheduled time. Consecutive skipped occurrences are one outcome: first, last and count. */
function formatScheduled({ count = 1, until }: OccurrenceOutcome, scheduled: number): string {
  if (count <= 1 || until === undefined) return formatInstant(scheduled);
  return `${formatInstant(scheduled)} … ${formatInstant(until)} (${count})`;
}

/** Maximum lines of output below the heading, and in the section further below. */
const FIRST_LINES = 6;
const MOST_LINES = 30;

/**
 * Builds a section with the end of the output of the last run that had output.
 * @param most  maximum number of lines
 */
function buildOutputSection({ runs, dead }: OutcomeHistory, most: number): Section[] {
  const newest = [...runs, ...dead].find(({ tail = "" }) => tail.trim() !== "");
  if (newest?.tail === undefined) return [];
  const lines = newest.tail.trimEnd().split("\n");
  const more = lines.length > most ? ` (the last ${most} of ${lines.length} lines)` : "";
  const title = `output of the run that ended ${formatInstant(newest.endedAt)}: ${newest.result}${more}`;
  return [{ kind: "lines", title, lines: lines.slice(-most) }];
}

/** Builds a section with the last lines of output, for the top of the detail. */
export function buildLastOutput(outcomes: OutcomeHistory): Section[] {
  return buildOutputSection(outcomes, FIRST_LINES);
}

/** Builds a section with more lines of output; none if the first section already has all of them. */
export function buildLongerOutput(outcomes: OutcomeHistory): Section[] {
  const [all] = buildOutputSection(outcomes, MOST_LINES);
  return all?.kind === "lines" && all.lines.length > FIRST_LINES ? [all] : [];
}
