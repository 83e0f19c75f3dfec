import { EXIT, SignalboxError } from "../../../base/errors.ts";
import { quoteText } from "../../../base/text.ts";
import { readWithRetries } from "../../../observe/ports.ts";
import { readPages } from "../../../observe/read.ts";
import { parsePastRuns } from "../../../protocol/history.ts";
import { RUN_ID } from "../../../protocol/keys.ts";
import { validateName } from "../../../protocol/names.ts";
import { toQueue } from "../../../protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../../../protocol/txn.ts";
import { parseOutcomes } from "../../../schedule/state/outcome.ts";
import { parseRunning } from "../../../schedule/state/running-record.ts";
import type { CommandContext } from "../../store-command.ts";

/** A run whose output may be kept. */
export interface OutputRun {
  run: string;
  host: string;
  /** The key that exists as long as it runs; undefined if it has ended. */
  key: string | undefined;
  /** When it began or ended, ms since the epoch. */
  at: number;
  /** The stored end of its output. */
  tail?: string | undefined;
}

/** Finds the run that a word names. @throws SignalboxError 1 if there is none; StoreError */
export async function findOutputRun(context: CommandContext, word: string): Promise<OutputRun> {
  const name = validateName("lock", word);
  const { keys } = context;
  const runs = [
    ...(await readRuns(context, [
      keys.getQueueRange("lock", name),
      { key: keys.running(name) },
      keys.getOccurrenceRange(name),
      { key: keys.history(name) },
      { key: keys.outcomes(name) },
    ])),
    ...(RUN_ID.test(word) ? await readNamedRun(context, word) : []),
  ];
  const found = pickNewest(runs);
  if (found !== undefined) return found;
  const message = `no run of ${quoteText(word)} is known: it names no lock or schedule with a run, and no run`;
  throw new SignalboxError(EXIT.undone, message);
}

/** Prefers runs that have not ended. */
function pickNewest(runs: readonly OutputRun[]): OutputRun | undefined {
  const running = runs.filter(({ key }) => key !== undefined);
  return [...(running.length > 0 ? running : runs)].sort((a, b) => b.at - a.at)[0];
}

async function readRuns(context: CommandContext, ranges: readonly KeyRange[]): Promise<OutputRun[]> {
  const answers = await Promise.all(ranges.map((range) => readWithRetries(context, range, context.signal)));
  return answers.flatMap(({ kvs }) => kvs.flatMap((kv) => toOutputRuns(context, kv)));
}

/** Looks for a run by its id. Reads everything that may mention it. */
async function readNamedRun(context: CommandContext, run: string): Promise<OutputRun[]> {
  const { keys, signal } = context;
  const found: OutputRun[] = [];
  const ranges = [keys.locks(), keys.resources(), keys.runnings(), keys.histories(), keys.getOutcomesRange()];
  for (const range of ranges) {
    for await (const { kvs } of readPages(context, range, { signal }))
      found.push(...kvs.flatMap((kv) => toOutputRuns(context, kv)).filter((one) => one.run === run));
    if (found.length > 0) break;
  }
  return found;
}

function toOutputRuns({ keys }: CommandContext, kv: KeyValue): OutputRun[] {
  const { kind } = keys.parse(kv.key);
  if (kind === "lock" || kind === "resource") return readTicket(kv);
  if (kind === "running") return readRunning(kv);
  if (kind === "history")
    return parsePastRuns(kv.value).map(({ run, host, endedAt: at, tail }) => {
      return { run, host, at, tail, key: undefined };
    });
  if (kind !== "outcomes") return [];
  const { runs, dead } = parseOutcomes(kv.value);
  return [...runs, ...dead].flatMap(({ run, host, endedAt: at, tail }) =>
    run === undefined || host === undefined ? [] : [{ run, host, at, tail, key: undefined }],
  );
}

function readTicket(kv: KeyValue): OutputRun[] {
  const [{ ticket } = {}] = toQueue([kv]);
  if (ticket?.state !== "held") return [];
  const { run, host, grantedAt: at = 0 } = ticket;
  return [{ run, host, at, key: kv.key }];
}

function readRunning(kv: KeyValue): OutputRun[] {
  const parsed = parseRunning(kv.value);
  if ("fault" in parsed) return [];
  const { run, host, since: at } = parsed.value;
  return [{ run, host, at, key: kv.key }];
}
