import { briefDuration, formatInstant } from "../../base/duration.ts";
import { EXIT } from "../../base/errors.ts";
import { type LockStatistics, lockStatistics } from "../../model/statistics.ts";
import { pastRuns } from "../../protocol/history.ts";
import { checkedName } from "../../protocol/names.ts";
import { pages } from "../../work/observe/read.ts";
import { textFlag } from "../flags.ts";
import { json, table } from "../table.ts";
import { type Desk, withStore } from "../with-store.ts";

const HEAD = ["LOCK", "RUNS", "FAILED", "BUSY", "HELD P50", "P95", "WAITED P50", "P95", "LAST", "EXIT"];

export const execute = withStore(async (call, world, desk) => {
  const wanted = new Set(call.args.map((name) => checkedName("lock", name)));
  const { revision, locks } = await statistics(desk, wanted);
  locks.sort(orderOf(textFlag(call, "sort") ?? "name"));
  if (call.flags.json) world.out(json({ revision, locks: locks.map(document) }));
  else if (locks.length > 0) world.out(table(HEAD, locks.map(row)));
  else if (call.verbosity >= 0)
    world.err(
      "signalbox: no runs are remembered; a lock remembers its last 20, unless --no-history is given\n",
    );
  return EXIT.ok;
});

/** Page by page: the histories of thousands of locks are large, what they come to is small. */
async function statistics(desk: Desk, wanted: ReadonlySet<string>) {
  const locks: LockStatistics[] = [];
  let revision = 0n;
  const wall = desk.clock.wall();
  for await (const page of pages(desk, desk.keys.histories(), { signal: desk.signal })) {
    revision = page.revision;
    for (const { key, value } of page.kvs) {
      const parsed = desk.keys.parse(key);
      if (parsed.kind !== "history" || (wanted.size > 0 && !wanted.has(parsed.name))) continue;
      locks.push(lockStatistics(parsed.name, pastRuns(value), wall));
    }
  }
  return { revision, locks };
}

function orderOf(order: string): (a: LockStatistics, b: LockStatistics) => number {
  const byName = (a: LockStatistics, b: LockStatistics) => (a.lock < b.lock ? -1 : a.lock > b.lock ? 1 : 0);
  const weight = WEIGHTS[order];
  return weight === undefined ? byName : (a, b) => weight(b) - weight(a) || byName(a, b);
}

const WEIGHTS: Record<string, (one: LockStatistics) => number> = {
  runs: ({ runs }) => runs,
  failures: ({ failures }) => failures,
  busy: ({ busy }) => busy ?? 0,
  held: ({ held }) => held?.p50 ?? 0,
  waited: ({ waited }) => waited?.p50 ?? 0,
  last: ({ last }) => last?.endedAt ?? 0,
};

function row({ lock, runs, failures, busy, held, waited, last }: LockStatistics): string[] {
  const share = busy === undefined ? "" : `${(busy * 100).toFixed(busy < 0.1 ? 1 : 0)}%`;
  const time = (ms: number | undefined) => (ms === undefined ? "" : briefDuration(ms));
  return [
    ...[lock, String(runs), String(failures), share, time(held?.p50), time(held?.p95)],
    ...[time(waited?.p50), time(waited?.p95)],
    ...[last === undefined ? "" : formatInstant(last.endedAt), last === undefined ? "" : String(last.exit)],
  ];
}

function document({ lock, runs, failures, busy, held, waited, last }: LockStatistics): object {
  return { lock, runs, failures, busy, held, waited, last };
}
