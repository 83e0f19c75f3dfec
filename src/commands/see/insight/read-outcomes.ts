import { type OutcomeHistory, parseOutcomes } from "../../../schedule/state/outcome.ts";
import { readPages } from "../../../work/observe/read.ts";
import type { CommandContext } from "../../store-command.ts";

/** Reads the outcome histories of all schedules by id, page by page. @throws StoreError */
export async function readAllOutcomes(
  context: CommandContext,
  revision?: bigint,
): Promise<Map<string, OutcomeHistory>> {
  const outcomes = new Map<string, OutcomeHistory>();
  const range = context.keys.getOutcomesRange();
  for await (const { kvs } of readPages(context, range, { revision, signal: context.signal }))
    for (const { key, value } of kvs) {
      const parsed = context.keys.parse(key);
      if (parsed.kind === "outcomes") outcomes.set(parsed.name, removeTails(parseOutcomes(value)));
    }
  return outcomes;
}

/** Removes the output: it is the largest part, and no summary uses it. */
function removeTails({ runs, dead }: OutcomeHistory): OutcomeHistory {
  const removeTail = <T extends { tail?: string }>({ tail: _, ...rest }: T) => rest;
  return { runs: runs.map(removeTail), dead: dead.map(removeTail) };
}
