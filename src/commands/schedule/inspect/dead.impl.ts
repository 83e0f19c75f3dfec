import { readPages } from "../../../observe/read.ts";
import { validateName } from "../../../protocol/names.ts";
import { type OccurrenceOutcome, parseOutcomes } from "../../../schedule/state/outcome.ts";
import { formatInstantUtc } from "../../command-line/instant.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { type CommandContext, createStoreCommand } from "../../store-command.ts";
import { renderTextTable } from "../../table.ts";
import { readSchedule } from "../read-schedule.ts";

interface DeadLetter extends OccurrenceOutcome {
  id: string;
}

const HEAD = ["key", "scheduled", "result", "code", "attempts", "given up", "host", "why"];

export const execute = createStoreCommand(async (call, io, context) => {
  const [id] = call.args;
  const letters =
    id === undefined
      ? await readAllDeadLetters(context)
      : await readDeadLetters(context, validateName("schedule", id));
  if (call.flags.json) io.writeOutput(formatJsonDocument({ rows: letters }));
  else if (letters.length === 0) io.writeOutput("no dead letters\n");
  else io.writeOutput(renderTextTable(HEAD, letters.map(toRow)));
});

async function readDeadLetters(context: CommandContext, id: string): Promise<DeadLetter[]> {
  const { outcomes } = await readSchedule(context, id);
  return outcomes.dead.map((one) => ({ id, ...one }));
}

async function readAllDeadLetters(context: CommandContext): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for await (const { kvs } of readPages(context, context.keys.getOutcomesRange(), { signal: context.signal }))
    for (const { key, value } of kvs) {
      const parsed = context.keys.parse(key);
      if (parsed.kind === "outcomes")
        letters.push(...parseOutcomes(value).dead.map((one) => ({ id: parsed.name, ...one })));
    }
  return letters;
}

function toRow({
  id,
  scheduled,
  result,
  code,
  attempt,
  endedAt,
  host = "",
  reason = "",
}: DeadLetter): string[] {
  const times = [code, attempt].map((one) => (one === undefined ? "" : String(one)));
  return [id, formatInstantUtc(scheduled), result, ...times, formatInstantUtc(endedAt), host, reason];
}
