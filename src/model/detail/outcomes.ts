import { briefDuration, formatInstant } from "../../base/duration.ts";
import { shellWord } from "../../base/shell.ts";
import { OUTCOMES_LENGTH, type Outcome, type Outcomes } from "../../schedule/outcome.ts";
import { lateText, resultTone } from "../tables/schedules.ts";
import { type Cell, type DetailColumn, type Section, tableOf, whoCell } from "./detail.ts";

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

/** How the last runs came out, newest first. */
export function outcomeTable(runs: readonly Outcome[]): Section[] {
  return tableOf("history", COLUMNS, runs.map(cells), { most: OUTCOMES_LENGTH });
}

/** Occurrences that were given up. */
export function deadTable(id: string, dead: readonly Outcome[]): Section[] {
  const [first] = dead;
  if (first === undefined) return [];
  const again = `signalbox schedule trigger ${shellWord(id)} --dead ${first.scheduled}`;
  return tableOf(`dead letters; to run the first again: ${again}`, COLUMNS, dead.map(cells), {
    most: OUTCOMES_LENGTH,
  });
}

function cells(outcome: Outcome): Cell[] {
  const { endedAt, result, scheduled, host = "", startedAt, late, attempt, code, reason } = outcome;
  const text = (value: unknown) => ({ text: value === undefined ? "" : String(value) });
  return [
    ...[{ text: formatInstant(endedAt) }, { text: result, tone: resultTone(result) }],
    ...[{ text: scheduledText(outcome, scheduled) }, whoCell(host)],
    text(startedAt === undefined ? undefined : briefDuration(endedAt - startedAt)),
    ...[text(late === undefined ? undefined : lateText(late)), text(attempt), text(code), text(reason)],
  ];
}

/** Skipped ones are told together: the first, how many, the last. */
function scheduledText({ count = 1, until }: Outcome, scheduled: number): string {
  if (count <= 1 || until === undefined) return formatInstant(scheduled);
  return `${formatInstant(scheduled)} … ${formatInstant(until)} (${count})`;
}

/** Lines of output that are shown. */
const MOST_LINES = 30;

/** The end of what the last run wrote, of those that wrote anything. */
export function tailLines({ runs, dead }: Outcomes): Section[] {
  const newest = [...runs, ...dead].find(({ tail = "" }) => tail.trim() !== "");
  if (newest?.tail === undefined) return [];
  const lines = newest.tail.trimEnd().split("\n");
  const more = lines.length > MOST_LINES ? ` (the last ${MOST_LINES} of ${lines.length} lines)` : "";
  const title = `output of the run that ended ${formatInstant(newest.endedAt)}: ${newest.result}${more}`;
  return [{ kind: "lines", title, lines: lines.slice(-MOST_LINES) }];
}
