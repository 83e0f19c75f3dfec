import { ConfigError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import { checkedName } from "../../protocol/names.ts";
import { checkedDefinition, type Definition } from "../../schedule/definition.ts";
import { firstDue } from "../../schedule/plan.ts";
import type { OperatorPorts } from "../operate/ports.ts";
import { type Amended, type Amendment, amend, type Change, type Manner } from "./amend.ts";
import { redefined } from "./redefined.ts";
import type { Seen, Sight } from "./seen.ts";

/** Where a schedule stands elsewhere, ms since the epoch: its next occurrence, and when that may be taken. */
export interface Position {
  next: number;
  runAt: number;
}

/** Many schedules at once, as a file has them. */
export interface Import {
  /** What the audit calls it. */
  target: string;
  definitions: ReadonlyMap<string, Definition>;
  /** The file's word in `Definition.source`: schedules of another are not touched. Undefined: all are the file's. */
  source?: string | undefined;
  /** Where they stand, if the file says. A schedule that has come as far here is not moved. */
  positions?: ReadonlyMap<string, Position>;
  /** Delete what is the file's, and not in it any more. */
  prunes: boolean;
}

/**
 * Makes schedules what a file says, and does nothing where they are that already. A pause, which is an operator's, stays
 * unless the file has one.
 * @throws UsageError, CronError, ConfigError for a name or a definition; ConfigError where an id is another source's
 */
export function importing({ target, definitions, positions, source, prunes }: Import): Amendment {
  for (const [id, definition] of definitions) {
    checkedName("schedule", id);
    checkedDefinition(definition);
  }
  const isOwn = (seen: Seen) => source === undefined || seen.definition?.source === source;
  return {
    ...{ target, ids: "all" },
    decide: (sight, now) => {
      checkOwners(sight, definitions.keys(), isOwn);
      const wanted = [...definitions].flatMap(([id, definition]) =>
        settled(sight, id, definition, { now, position: positions?.get(id) }),
      );
      const extra = [...sight.schedules.values()].filter((seen) => !definitions.has(seen.id) && isOwn(seen));
      return prunes ? [...wanted, ...extra.map((before): Change => ({ before, isDeleted: true }))] : wanted;
    },
    outcome: importCount,
  };
}

/** @throws as `importing`, SignalboxError 75, 77, 78 where it is too much for one transaction, StoreError */
export function importSchedules(ports: OperatorPorts, given: Import, manner?: Manner): Promise<Amended> {
  return amend(ports, importing(given), manner);
}

/** `2 added, 1 changed`. */
export function importCount(changes: readonly Change[]): string {
  const deleted = changes.filter(({ isDeleted }) => isDeleted).length;
  const added = changes.filter(({ before }) => before.definitionMod === 0n).length;
  const counts = [
    [added, "added"],
    [changes.length - added - deleted, "changed"],
    [deleted, "deleted"],
  ] as const;
  const told = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return told.join(", ") || "nothing changed";
}

function settled(
  sight: Sight,
  id: string,
  definition: Definition,
  { now, position }: { now: number; position: Position | undefined },
): Change[] {
  const before = sight.schedules.get(id);
  if (before === undefined) {
    const nothing = { definitionMod: 0n, dueMod: 0n, outcomesMod: 0n, outcomes: { runs: [], dead: [] } };
    return [
      {
        before: { id, ...nothing },
        definition,
        due: position === undefined ? firstDue(id, definition, now) : { ...position, open: [] },
      },
    ];
  }
  const pause = definition.pause ?? before.definition?.pause;
  const changes = redefined(before, { ...definition, ...(pause !== undefined && { pause }) }, now);
  if (position === undefined || !isBehind(before, position)) return changes;
  return [{ before, ...changes[0], due: { open: [], ...before.due, ...position } }];
}

/**
 * Whether a schedule went on elsewhere since it was imported: what was done there is not done again. One that has ended, or has come
 * further here, stays.
 */
function isBehind({ due }: Seen, { next }: Position): boolean {
  return due === undefined || (due.next !== undefined && due.next < next);
}

function checkOwners(sight: Sight, ids: Iterable<string>, isOwn: (seen: Seen) => boolean): void {
  for (const id of ids) {
    const seen = sight.schedules.get(id);
    if (seen === undefined || isOwn(seen)) continue;
    const whose = seen.definition?.source;
    throw new ConfigError(
      `schedule ${quoted(id)} is there already, ${whose === undefined ? "and was not imported" : `imported from ${quoted(whose)}`}` +
        "; nothing was done. Give this file's schedules names of their own with --prefix-id, or say whose it is with --source",
    );
  }
}
