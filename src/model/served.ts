import { membership } from "../fleet/groups.ts";
import { type Definition, typeOf } from "../schedule/definition.ts";
import { handles } from "../schedule/types.ts";
import type { WorkerRecord } from "../schedule/worker-record.ts";
import type { Picture } from "./picture.ts";

/** Tells of a schedule whether some worker can run it. */
export type Served = (id: string, definition: Definition) => boolean;

/** The last answer: workers write their words every few seconds, and mostly say the same. */
let last: { text: string; served: Served } | undefined;

interface Scene {
  /** Members by group. */
  groups: ReadonlyMap<string, readonly string[]>;
}

/** Who can run what, as workers say of themselves. The same function as long as they say the same. */
export function servedBy({ workers }: Pick<Picture, "workers">, { groups }: Scene): Served {
  const able = [...workers.values()].flatMap(({ value }) =>
    value === undefined || value.isLeaving || value.clock === "refuses" ? [] : [value],
  );
  const text = JSON.stringify([able.map(({ host, types }) => [host, types]), [...groups]]);
  if (last?.text === text) return last.served;
  const served = answers(able, groups);
  last = { text, served };
  return served;
}

function answers(workers: readonly WorkerRecord[], groups: Scene["groups"]): Served {
  const kinds = new Map<string, boolean>();
  const known = new WeakMap<Definition, boolean>(); // there may be 100,000, asked again and again
  const ofKind = (id: string, definition: Definition) => {
    const { group, command } = definition;
    const kind = JSON.stringify([command === undefined ? typeOf(id, definition) : null, group]);
    const answer =
      kinds.get(kind) ??
      workers.some(({ types, host }) => handles(types, id, definition) && isFor(group, host, groups));
    kinds.set(kind, answer);
    return answer;
  };
  return (id, definition) => {
    const answer = known.get(definition) ?? ofKind(id, definition);
    known.set(definition, answer);
    return answer;
  };
}

function isFor(group: string | undefined, host: string, groups: Scene["groups"]): boolean {
  return group === undefined || (groups.has(group) && membership(groups, group, host) !== undefined);
}
