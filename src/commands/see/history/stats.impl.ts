import { formatBriefDuration, formatInstant } from "../../../base/duration.ts";
import { EXIT } from "../../../base/errors.ts";
import { computeLockStatistics, type LockStatistics } from "../../../model/explain/statistics.ts";
import { readPages } from "../../../observe/read.ts";
import { parsePastRuns } from "../../../protocol/history.ts";
import { validateName } from "../../../protocol/names.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createReadCommand } from "../../read-command.ts";
import type { CommandContext } from "../../store-command.ts";
import { renderTextTable } from "../../table.ts";

const HEAD = ["LOCK", "RUNS", "FAILED", "BUSY", "HELD P50", "P95", "WAITED P50", "P95", "LAST", "EXIT"];

export const execute = createReadCommand(async (call, io, context) => {
  const wanted = new Set(call.args.map((name) => validateName("lock", name)));
  const { revision, locks } = await readStatistics(context, wanted);
  locks.sort(createComparator(getTextFlag(call, "sort") ?? "name"));
  if (call.flags.json) io.writeOutput(formatJsonDocument({ revision, locks }));
  else if (locks.length > 0) io.writeOutput(renderTextTable(HEAD, locks.map(toRow)));
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

function toRow({ lock, runs, failures, busy, held, waited, last }: LockStatistics): string[] {
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
