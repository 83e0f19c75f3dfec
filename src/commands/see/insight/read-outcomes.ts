import { readPages } from "../../../observe/read.ts";
import type { KeyRange } from "../../../protocol/txn.ts";
import { type OutcomeHistory, parseOutcomes } from "../../../schedule/state/outcome.ts";
import type { CommandContext } from "../../store-command.ts";

/** Outcome histories by schedule. */
export type OutcomeHistories = ReadonlyMap<string, OutcomeHistory>;

/** Reads the outcome histories of all schedules by id, page by page, without output. @throws StoreError */
export async function readAllOutcomes(
  context: CommandContext,
  revision?: bigint,
): Promise<Map<string, OutcomeHistory>> {
  const outcomes = await readOutcomes(context, context.keys.getOutcomesRange(), revision, context.signal);
  return new Map([...outcomes].map(([id, history]) => [id, removeTails(history)]));
}

/** Reads the outcome histories in a range, page by page. @throws StoreError */
export async function readOutcomes(
  context: CommandContext,
  range: Required<KeyRange>,
  revision: bigint | undefined,
  signal: AbortSignal,
): Promise<OutcomeHistories> {
  const outcomes = new Map<string, OutcomeHistory>();
  for await (const { kvs } of readPages(context, range, { revision, signal }))
    for (const { key, value } of kvs) {
      const parsed = context.keys.parse(key);
      if (parsed.kind === "outcomes") outcomes.set(parsed.name, parseOutcomes(value));
    }
  return outcomes;
}

/** Removes the output: it is the largest part, and no summary uses it. */
function removeTails({ runs, dead }: OutcomeHistory): OutcomeHistory {
  const removeTail = <T extends { tail?: string }>({ tail: _, ...rest }: T) => rest;
  return { runs: runs.map(removeTail), dead: dead.map(removeTail) };
}
