import { formatInstant } from "../../../base/duration.ts";
import { groupPastEvents, listEventsSince, type SinceReport } from "../../../model/insight/since.ts";
import { formatShortList } from "../../../model/views/short-list.ts";
import { formatAuditTime } from "../../../protocol/audit.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createReadCommand } from "../../read-command.ts";
import { readSnapshotRanges, retryCompacted } from "../../read-snapshot.ts";
import type { CommandContext } from "../../store-command.ts";
import { renderTextTable } from "../../table.ts";
import { parsePastTime } from "./past-time.ts";
import { readAllOutcomes } from "./read-outcomes.ts";

const HEAD = ["WHAT", "OBJECT", "TIMES", "LAST", "DETAIL"];
/** Number of names in the note on gaps. */
const SHORT = 5;

export const execute = createReadCommand(async ({ args: [text = "24h"], flags }, io, context) => {
  const until = context.clock.getWallTime();
  const span = { from: parsePastTime("TIME", text, until), until };
  const inputs = await retryCompacted(() => readInputs(context, span.from));
  const report = listEventsSince(inputs, span);
  const { revision } = inputs.snapshot;
  if (flags.json) io.writeOutput(formatJsonDocument({ revision, ...span, ...report }));
  else io.writeOutput(`${renderReport(report)}${formatCompleteness(report, span.from)}\n`);
});

async function readInputs(context: CommandContext, from: number) {
  const { keys } = context;
  const audits = { key: keys.audit(formatAuditTime(from)), rangeEnd: keys.audits().rangeEnd };
  const collections = ["histories", "drains", "hosts", "workers", "schedules"] as const;
  const snapshot = await readSnapshotRanges(context, collections, [audits]);
  return { snapshot, outcomes: await readAllOutcomes(context, snapshot.revision) };
}

function renderReport({ events }: SinceReport): string {
  if (events.length === 0) return "nothing is recorded\n";
  const rows = groupPastEvents(events).map(({ kind, subject, times, last }) => [
    kind,
    subject,
    String(times),
    formatInstant(last.at),
    last.detail,
  ]);
  return renderTextTable(HEAD, rows);
}

function formatCompleteness({ gaps, completeFrom }: SinceReport, from: number): string {
  if (gaps.length === 0) return `the history is complete since ${formatInstant(from)}`;
  const names = gaps.map(({ subject }) => subject);
  return `the history is complete since ${formatInstant(completeFrom)}; older entries are dropped of ${formatShortList(names, SHORT)}`;
}
