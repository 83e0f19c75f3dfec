import { isDeepStrictEqual } from "node:util";
import { ConfigError, UsageError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import { validateName } from "../protocol/names.ts";
import type { Calendars } from "../schedule/calendar/calendar.ts";
import { type ChainGraph, findChainCycle } from "../schedule/chain-graph.ts";
import type { Definition } from "../schedule/definition.ts";
import type { DueState } from "../schedule/state/due.ts";
import { computeFirstDue } from "../schedule/state/due-transitions.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { ScheduleReadResult } from "./stored-schedules.ts";

/** Maximum number of schedules before one, and after one: all are written in the transaction that ends a run. */
const MOST_LINKS = 20;

/** Returns whether changes of schedules change chains, so that `linkChains` is needed. */
export function hasChainChange(changes: readonly PlannedChange[]): boolean {
  return changes.some(({ before, definition, isDeleted }) => {
    if (isDeleted) return before.definition?.after !== undefined || before.due?.successors !== undefined;
    return definition !== undefined && !isDeepStrictEqual(definition.after, before.definition?.after);
  });
}

/**
 * Adds to changes of schedules what makes their chains complete: the state of each schedule lists those that follow it,
 * so that the transaction that ends its run can add theirs.
 * @param stored  all schedules
 * @throws ConfigError for a missing schedule, a cycle or too many links; UsageError if a schedule that others follow
 *   would be deleted
 */
export function linkChains(
  changes: readonly PlannedChange[],
  stored: ScheduleReadResult,
  now: number,
): PlannedChange[] {
  const before = buildGraph(stored);
  const after = applyToGraph(before, changes);
  const changed = changes.filter((change) => hasChainChange([change]));
  for (const change of changed) checkLinks(change, after);
  const touched = new Set(
    changed.flatMap(({ before: { id } }) => [...(before.get(id) ?? []), ...(after.get(id) ?? []), id]),
  );
  const successors = invertGraph(after);
  const byId = new Map(changes.map((change) => [change.before.id, change]));
  for (const id of touched) {
    const change = byId.get(id) ?? buildEmptyChange(stored, id);
    const linked = change && setSuccessors(change, successors.get(id), now, stored.calendars);
    if (linked !== undefined) byId.set(id, linked);
  }
  return [...byId.values()];
}

/** Returns the ids that each schedule follows. */
function buildGraph({ schedules }: ScheduleReadResult): Map<string, readonly string[]> {
  const existing = [...schedules].filter(([, { definitionMod }]) => definitionMod > 0n);
  return new Map(existing.map(([id, { definition }]) => [id, definition?.after ?? []]));
}

function applyToGraph(
  graph: ReadonlyMap<string, readonly string[]>,
  changes: readonly PlannedChange[],
): Map<string, readonly string[]> {
  const result = new Map(graph);
  for (const { before, definition, isDeleted } of changes) {
    if (isDeleted) result.delete(before.id);
    else if (definition !== undefined) result.set(before.id, definition.after ?? []);
  }
  return result;
}

function checkLinks({ before: { id, due }, definition, isDeleted }: PlannedChange, graph: ChainGraph): void {
  if (isDeleted) {
    const left = due?.successors?.find((one) => graph.get(one)?.includes(id));
    if (left !== undefined)
      throw new UsageError(
        `schedule ${quoteText(id)} cannot be deleted: schedule ${quoteText(left)} follows it; delete both, or first: signalbox schedule edit ${left} --after ''`,
      );
    return;
  }
  if (definition?.after !== undefined) checkPredecessors(id, definition.after, graph);
}

function checkPredecessors(id: string, after: readonly string[], graph: ChainGraph): void {
  if (after.length > MOST_LINKS || new Set(after).size < after.length)
    throw new ConfigError(
      `schedule ${quoteText(id)} must follow at most ${MOST_LINKS} different schedules; got ${after.join(",")}`,
    );
  for (const one of after) {
    validateName("schedule", one);
    if (!graph.has(one))
      throw new ConfigError(
        `schedule ${quoteText(id)} cannot follow schedule ${quoteText(one)}: there is none; add it first`,
      );
  }
  const cycle = findChainCycle(graph, id);
  if (cycle !== undefined)
    throw new ConfigError(
      `schedule ${quoteText(id)} cannot follow ${quoteText(cycle[1] ?? id)}: that is a cycle, ${cycle.join(" -> ")}`,
    );
}

function invertGraph(graph: ChainGraph): Map<string, string[]> {
  const successors = new Map<string, string[]>();
  for (const [id, after] of graph)
    for (const one of after) successors.set(one, [...(successors.get(one) ?? []), id].sort());
  return successors;
}

function buildEmptyChange({ schedules }: ScheduleReadResult, id: string): PlannedChange | undefined {
  const before = schedules.get(id);
  return before && { before };
}

/** Sets which schedules follow. Undefined if nothing changes. */
function setSuccessors(
  change: PlannedChange,
  successors: readonly string[] | undefined,
  now: number,
  calendars: Calendars,
): PlannedChange | undefined {
  const { before, isDeleted } = change;
  if (isDeleted) return undefined;
  const { id } = before;
  if (successors !== undefined && successors.length > MOST_LINKS)
    throw new ConfigError(
      `at most ${MOST_LINKS} schedules can follow schedule ${quoteText(id)}; got ${successors.length}`,
    );
  const definition: Definition | undefined = change.definition ?? before.definition;
  const due = change.due ?? before.due ?? (definition && computeFirstDue(id, definition, now, {}, calendars));
  if (due === undefined) return undefined;
  const linked = replaceLinks(due, successors, definition?.after);
  return isDeepStrictEqual(linked, due) ? undefined : { ...change, due: linked };
}

/** Replaces the successors, and forgets the ends of schedules that are no longer before it. */
function replaceLinks(
  { successors: _, arrived = [], ...due }: DueState,
  successors: readonly string[] | undefined,
  after: readonly string[] = [],
): DueState {
  const kept = arrived.filter(({ id }) => after.includes(id));
  return {
    ...due,
    ...(successors !== undefined && { successors }),
    ...(kept.length > 0 && { arrived: kept }),
  };
}
