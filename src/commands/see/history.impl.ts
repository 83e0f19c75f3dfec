import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { EXIT } from "../../base/errors.ts";
import { quoteText, suggestNearest } from "../../base/text.ts";
import { readWithRetries } from "../../observe/ports.ts";
import { type PastRun, parsePastRuns } from "../../protocol/history.ts";
import { validateName } from "../../protocol/names.ts";
import { parseCountFlag } from "../command-line/flags.ts";
import { parseSinceFlag } from "../command-line/past-time.ts";
import { formatJsonDocument } from "../json-output.ts";
import { createReadCommand } from "../read-command.ts";
import { readRecordedLocks } from "../read-snapshot.ts";
import type { CommandContext } from "../store-command.ts";
import { renderTextTable } from "../table.ts";

const HEAD = ["ENDED", "HOST", "COMMAND", "WAITED", "HELD", "EXIT", "TOKEN", "NOTE"];

export const execute = createReadCommand(async (call, io, context) => {
  const [name = ""] = call.args;
  const lock = validateName("lock", name);
  const from = parseSinceFlag(call, context.clock.getWallTime()) ?? 0;
  const key = context.keys.history(lock);
  const { kvs, revision } = await readWithRetries(context, { key }, context.signal);
  const recorded = parsePastRuns(kvs[0]?.value);
  const runs = recorded.filter(({ endedAt }) => endedAt >= from).slice(0, parseCountFlag(call, "limit", 1));
  if (call.flags.json) io.writeOutput(formatJsonDocument({ revision, lock, runs }));
  else if (runs.length > 0) io.writeOutput(renderTextTable(HEAD, runs.map(toRow)));
  else if (recorded.length > 0)
    context.printMessage(`no run of lock ${quoteText(lock)} has ended since ${formatInstant(from)}`);
  else context.printMessage(await explainNoHistory(context, lock));
  return kvs.length === 0 ? EXIT.undone : EXIT.ok;
});

function toRow({ endedAt, host, pid, command, waited, held, exit, token, label, reason }: PastRun): string[] {
  const note = [label, reason].filter(Boolean).join(": ");
  const times = [formatBriefDuration(waited), formatBriefDuration(held)];
  return [formatInstant(endedAt), `${host}:${pid}`, command, ...times, String(exit), token, note];
}

async function explainNoHistory(context: CommandContext, lock: string): Promise<string> {
  const hint = suggestNearest(lock, await readRecordedLocks(context));
  return `no runs of lock ${quoteText(lock)} are recorded${hint}`;
}
