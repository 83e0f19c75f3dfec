import { findMembership } from "../../fleet/groups.ts";
import { type Definition, getScheduleType } from "../../schedule/definition.ts";
import { canHandle } from "../../schedule/handler-types.ts";
import type { WorkerRecord } from "../../schedule/state/worker-record.ts";
import type { Snapshot } from "./snapshot.ts";

/** Returns whether any worker can run a schedule. */
export type ServedPredicate = (id: string, definition: Definition) => boolean;

/** The last predicate: workers write their records every few seconds, mostly without changes. */
let lastAnswer: { text: string; served: ServedPredicate } | undefined;

interface GroupContext {
  /** Members by group. */
  groups: ReadonlyMap<string, readonly string[]>;
}

/** Creates the predicate from the worker records. Returns the same function until workers or groups change. */
export function createServedPredicate(
  { workers }: Pick<Snapshot, "workers">,
  { groups }: GroupContext,
): ServedPredicate {
  const able = [...workers.values()].flatMap(({ value }) =>
    value === undefined || value.isLeaving || value.clock === "refuses" ? [] : [value],
  );
  const text = JSON.stringify([able.map(({ host, types }) => [host, types]), [...groups]]);
  if (lastAnswer?.text === text) return lastAnswer.served;
  const served = createPredicate(able, groups);
  lastAnswer = { text, served };
  return served;
}

function createPredicate(workers: readonly WorkerRecord[], groups: GroupContext["groups"]): ServedPredicate {
  const kinds = new Map<string, boolean>();
  const known = new WeakMap<Definition, boolean>(); // there may be 100,000, each checked many times
  const isKindServed = (id: string, definition: Definition) => {
    const { group, command } = definition;
    const kind = JSON.stringify([command === undefined ? getScheduleType(id, definition) : null, group]);
    const answer =
      kinds.get(kind) ??
      workers.some(({ types, host }) => canHandle(types, id, definition) && isFor(group, host, groups));
    kinds.set(kind, answer);
    return answer;
  };
  return (id, definition) => {
    const answer = known.get(definition) ?? isKindServed(id, definition);
    known.set(definition, answer);
    return answer;
  };
}

function isFor(group: string | undefined, host: string, groups: GroupContext["groups"]): boolean {
  return group === undefined || (groups.has(group) && findMembership(groups, group, host) !== undefined);
}
