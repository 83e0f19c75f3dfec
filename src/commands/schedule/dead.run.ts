import { EXIT } from "../../base/errors.ts";
import { checkedName } from "../../protocol/names.ts";
import { type Outcome, parseOutcomes } from "../../schedule/outcome.ts";
import { pages } from "../../work/observe/read.ts";
import { json, table } from "../table.ts";
import { type Desk, withStore } from "../with-store.ts";
import { shownInstant } from "./instant.ts";
import { readOne } from "./one.ts";

interface Letter extends Outcome {
  id: string;
}

const HEAD = ["key", "scheduled", "result", "code", "attempts", "given up", "host", "why"];

export const execute = withStore(async (call, world, desk) => {
  const [id] = call.args;
  const letters =
    id === undefined ? await allLetters(desk) : await lettersOf(desk, checkedName("schedule", id));
  if (call.flags.json) world.out(json({ rows: letters }));
  else if (letters.length === 0) world.out("no dead letters\n");
  else world.out(table(HEAD, letters.map(rowOf)));
  return EXIT.ok;
});

async function lettersOf(desk: Desk, id: string): Promise<Letter[]> {
  const { outcomes } = await readOne(desk, id);
  return outcomes.dead.map((one) => ({ id, ...one }));
}

async function allLetters(desk: Desk): Promise<Letter[]> {
  const letters: Letter[] = [];
  for await (const { kvs } of pages(desk, desk.keys.allOutcomes(), { signal: desk.signal }))
    for (const { key, value } of kvs) {
      const parsed = desk.keys.parse(key);
      if (parsed.kind === "outcomes")
        letters.push(...parseOutcomes(value).dead.map((one) => ({ id: parsed.name, ...one })));
    }
  return letters;
}

function rowOf({ id, scheduled, result, code, attempt, endedAt, host = "", reason = "" }: Letter): string[] {
  const times = [code, attempt].map((one) => (one === undefined ? "" : String(one)));
  return [id, shownInstant(scheduled), result, ...times, shownInstant(endedAt), host, reason];
}
