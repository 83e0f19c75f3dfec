import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { EXIT } from "../../base/errors.ts";
import { quoteText, suggestNearest } from "../../base/text.ts";
import { readWithRetries } from "../../observe/ports.ts";
import { readPages } from "../../observe/read.ts";
import { type PastRun, parsePastRuns } from "../../protocol/history.ts";
import { validateName } from "../../protocol/names.ts";
import { computeLockStatistics, type LockStatistics } from "../../state/statistics.ts";
import { parseCountFlag } from "../command-line/flags.ts";
import { parseSinceFlag } from "../command-line/instant.ts";
import { formatJsonDocument } from "../json-output.ts";
import { createReadCommand, readRecordedLocks } from "../read-snapshot.ts";
import type { CommandContext } from "../store-command.ts";
import { renderTextTable } from "../table.ts";
import type { HistoryFlags, StatsFlags } from "./history.ts";

const HISTORY_HEAD = ["ENDED", "HOST", "COMMAND", "WAITED", "HELD", "EXIT", "TOKEN", "NOTE"];

export const showHistory = createReadCommand<HistoryFlags>(async (call, io, context) => {
  const [name = ""] = call.args;
  const lock = validateName("lock", name);
  const from = parseSinceFlag(call, context.clock.getWallTime()) ?? 0;
  const key = context.keys.history(lock);
  const { kvs, revision } = await readWithRetries(context, { key }, context.signal);
  const recorded = parsePastRuns(kvs[0]?.value);
  const runs = recorded.filter(({ endedAt }) => endedAt >= from).slice(0, parseCountFlag(call, "limit", 1));
  if (call.flags.json) io.writeOutput(formatJsonDocument({ revision, lock, runs }));
  else if (runs.length > 0) io.writeOutput(renderTextTable(HISTORY_HEAD, runs.map(toHistoryRow)));
  else if (recorded.length > 0)
    context.printMessage(`no run of lock ${quoteText(lock)} has ended since ${formatInstant(from)}`);
  else context.printMessage(await explainNoHistory(context, lock));
  return kvs.length === 0 ? EXIT.undone : EXIT.ok;
});

function toHistoryRow({
  endedAt,
  host,
  pid,
  command,
  waited,
  held,
  exit,
  token,
  label,
  reason,
}: PastRun): string[] {
  const note = [label, reason].filter(Boolean).join(": ");
  const times = [formatBriefDuration(waited), formatBriefDuration(held)];
  return [formatInstant(endedAt), `${host}:${pid}`, command, ...times, String(exit), token, note];
}

async function explainNoHistory(context: CommandContext, lock: string): Promise<string> {
  const hint = suggestNearest(lock, await readRecordedLocks(context));
  return `no runs of lock ${quoteText(lock)} are recorded${hint}`;
}

const STATS_HEAD = ["LOCK", "RUNS", "FAILED", "BUSY", "HELD P50", "P95", "WAITED P50", "P95", "LAST", "EXIT"];

export const showStats = createReadCommand<StatsFlags>(async (call, io, context) => {
  const wanted = new Set(call.args.map((name) => validateName("lock", name)));
  const { revision, locks } = await readStatistics(context, wanted);
  locks.sort(createComparator(call.flags.sort ?? "name"));
  if (call.flags.json) io.writeOutput(formatJsonDocument({ revision, locks }));
  else if (locks.length > 0) io.writeOutput(renderTextTable(STATS_HEAD, locks.map(toStatsRow)));
  else
    context.printMessage(
      "no runs are recorded; the history of a lock has its last 20 runs, except those with --no-history",
    );
  return locks.length < wanted.size ? EXIT.undone : EXIT.ok;
});

/** Reads the histories page by page: for thousands of locks they are large, but their statistics are small. */
async function readStatistics(context: CommandContext, wanted: ReadonlySet<string>) {
  const locks: LockStatistics[] = [];
  let revision = 0n;
  const wall = context.clock.getWallTime();
  for await (const page of readPages(context, context.keys.histories(), { signal: context.signal })) {
    revision = page.revision;
    for (const { key, value } of page.kvs) {
      const parsed = context.keys.parse(key);
      if (parsed.kind !== "history" || (wanted.size > 0 && !wanted.has(parsed.name))) continue;
      locks.push(computeLockStatistics(parsed.name, parsePastRuns(value), wall));
    }
  }
  return { revision, locks };
}

function createComparator(order: string): (a: LockStatistics, b: LockStatistics) => number {
  const compareNames = (a: LockStatistics, b: LockStatistics) =>
    a.lock < b.lock ? -1 : a.lock > b.lock ? 1 : 0;
  const weight = WEIGHTS[order];
  return weight === undefined ? compareNames : (a, b) => weight(b) - weight(a) || compareNames(a, b);
}

const WEIGHTS: Record<string, (one: LockStatistics) => number> = {
  runs: ({ runs }) => runs,
  failures: ({ failures }) => failures,
  busy: ({ busy }) => busy ?? 0,
  held: ({ held }) => held?.p50 ?? 0,
  waited: ({ waited }) => waited?.p50 ?? 0,
  last: ({ last }) => last?.endedAt ?? 0,
};

function toStatsRow({ lock, runs, failures, busy, held, waited, last }: LockStatistics): string[] {
  const share = busy === undefined ? "" : `${(busy * 100).toFixed(busy < 0.1 ? 1 : 0)}%`;
  const formatTime = (ms: number | undefined) => (ms === undefined ? "" : formatBriefDuration(ms));
  return [
    lock,
    String(runs),
    String(failures),
    share,
    formatTime(held?.p50),
    formatTime(held?.p95),
    formatTime(waited?.p50),
    formatTime(waited?.p95),
    last === undefined ? "" : formatInstant(last.endedAt),
    last === undefined ? "" : String(last.exit),
  ];
}
