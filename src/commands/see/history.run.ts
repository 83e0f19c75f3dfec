import { briefDuration, formatInstant } from "../../base/duration.ts";
import { EXIT } from "../../base/errors.ts";
import { clean, nearest, quoted } from "../../base/text.ts";
import { type PastRun, pastRuns } from "../../protocol/history.ts";
import { checkedName } from "../../protocol/names.ts";
import { patiently } from "../../work/observe/ports.ts";
import { readAll } from "../../work/observe/read.ts";
import { countFlag } from "../flags.ts";
import { json, table } from "../table.ts";
import { type Desk, withStore } from "../with-store.ts";

const HEAD = ["ENDED", "HOST", "COMMAND", "WAITED", "HELD", "EXIT", "TOKEN", "NOTE"];

export const execute = withStore(async (call, world, desk) => {
  const [name = ""] = call.args;
  const lock = checkedName("lock", name);
  const key = desk.keys.history(lock);
  const { kvs, revision } = await patiently(desk, (signal) => desk.store.range({ key }, signal), desk.signal);
  const runs = pastRuns(kvs[0]?.value).slice(0, countFlag(call, "limit", 1));
  if (call.flags.json) world.out(json({ revision, lock, runs }));
  else if (runs.length > 0) world.out(table(HEAD, runs.map(row)));
  else if (call.verbosity >= 0) world.err(`signalbox: ${clean(await nothing(desk, lock))}\n`);
  return EXIT.ok;
});

function row({ endedAt, host, pid, command, waited, held, exit, token, label, reason }: PastRun): string[] {
  const note = [label, reason].filter(Boolean).join(": ");
  const times = [briefDuration(waited), briefDuration(held)];
  return [formatInstant(endedAt), `${host}:${pid}`, command, ...times, String(exit), token, note];
}

async function nothing(desk: Desk, lock: string): Promise<string> {
  const known = await readAll(desk, desk.keys.histories(), { keysOnly: true, signal: desk.signal });
  const names = known.flatMap(({ key }) => {
    const parsed = desk.keys.parse(key);
    return parsed.kind === "history" ? [parsed.name] : [];
  });
  const meant = nearest(lock, names);
  const hint = meant === undefined ? "" : `; did you mean ${quoted(meant)}?`;
  return `no run of lock ${quoted(lock)} is remembered${hint}`;
}
