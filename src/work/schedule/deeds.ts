import { UsageError } from "../../base/errors.ts";
import { shellWord } from "../../base/shell.ts";
import { quoted } from "../../base/text.ts";
import { checkedName } from "../../protocol/names.ts";
import { checkedDefinition, type Definition, isPaused } from "../../schedule/definition.ts";
import type { Due } from "../../schedule/due.ts";
import { AlreadyExistsError, NotFoundError } from "../../schedule/errors.ts";
import { type First, firstDue, MOST_OPEN, resumed, triggered } from "../../schedule/plan.ts";
import type { Amendment, Change } from "./amend.ts";
import { redefined } from "./redefined.ts";
import type { Seen, Sight } from "./seen.ts";

// What operators and programs do to schedules, as amendments that can be foreseen or carried out. Instants in ms since the
// epoch.

/** A new schedule. @throws UsageError for a name that cannot be used; CronError, ConfigError where the definition is wrong */
export function adding(id: string, definition: Definition, first: First = {}): Amendment {
  checkedName("schedule", id);
  checkedDefinition(definition);
  return {
    ...about([id], () => "added"),
    decide: (sight, now) => {
      const before = seenIn(sight, id);
      if (before.definitionMod > 0n)
        throw new AlreadyExistsError(
          `there is a schedule ${quoted(id)} already; change it with: signalbox schedule edit ${shellWord(id)}`,
        );
      return [{ before, definition, due: firstDue(id, definition, now, first) }];
    },
  };
}

/**
 * Other definitions for schedules that are there; one that stays the same is left alone.
 * @param change  what becomes of one; `before` is undefined where what stands there cannot be read
 */
export function modifying(
  ids: readonly string[],
  change: (before: Definition | undefined, id: string) => Definition,
  first: First = {},
): Amendment {
  return {
    ...about(ids, () => "changed"),
    decide: (sight, now) =>
      unique(ids).flatMap((id) => {
        const before = existing(sight, id);
        return redefined(before, checkedDefinition(change(before.definition, id)), now, first);
      }),
  };
}

/** With all that belongs to them. What runs goes on, and leaves no trace when it ends. */
export function deleting(ids: readonly string[]): Amendment {
  return {
    ...about(ids, () => "deleted"),
    decide: (sight) => unique(ids).map((id) => ({ before: existing(sight, id), isDeleted: true })),
  };
}

/** They fire no more, but for triggers. What runs goes on. @param pause.until  they fire again by themselves then */
export function pausing(
  ids: readonly string[],
  pause: { by: string; until?: number | undefined; why?: string | undefined },
): Amendment {
  const { by, until, why } = pause;
  const extent = until === undefined ? {} : { until };
  return {
    ...about(ids, () => (until === undefined ? "paused" : `paused until ${new Date(until).toISOString()}`)),
    decide: (sight, now) =>
      unique(ids).flatMap((id): Change[] => {
        const before = readable(existing(sight, id));
        const old = before.definition.pause;
        const isSame = isPaused(before.definition, now) && old?.until === until && old?.why === why;
        if (isSame) return [];
        if (until !== undefined && until <= now)
          throw new UsageError(`a pause until ${new Date(until).toISOString()} is over already`);
        const at = isPaused(before.definition, now) && old !== undefined ? old.at : now;
        const word = { by, at, ...extent, ...(why !== undefined && { why }) };
        return [{ before, definition: { ...before.definition, pause: word } }];
      }),
  };
}

/** They fire again, from now on: what the pause has stopped is not made up for. */
export function resuming(ids: readonly string[]): Amendment {
  return {
    ...about(ids, () => "resumed"),
    decide: (sight, now) =>
      unique(ids).flatMap((id): Change[] => {
        const before = readable(existing(sight, id));
        if (!isPaused(before.definition, now)) return [];
        const { pause: _, ...definition } = before.definition;
        const due = before.due && resumed(id, definition, before.due, now);
        return [{ before, definition, ...(due !== undefined && due !== before.due && { due }) }];
      }),
  };
}

/**
 * One run more of each, at once and beside the plan, also of what is paused.
 * @param dead  the nominal time of a dead letter that is to run again
 */
export function triggering(ids: readonly string[], dead?: number): Amendment {
  const what = dead === undefined ? "triggered" : `triggered again: ${new Date(dead).toISOString()}`;
  return {
    ...about(ids, () => what),
    decide: (sight, now) => unique(ids).map((id) => triggerOf(readable(existing(sight, id)), now, dead)),
  };
}

function triggerOf(before: Readable, now: number, dead: number | undefined): Change {
  const { id, definition, outcomes } = before;
  const letters = outcomes.dead.filter(({ scheduled }) => scheduled === dead);
  if (dead !== undefined && letters.length === 0)
    throw new NotFoundError(
      `schedule ${quoted(id)} has no dead letter of ${new Date(dead).toISOString()}; see: signalbox schedule dead ${id}`,
    );
  const from = before.due ?? firstDue(id, definition, now);
  const due = triggered(from, now, dead);
  if (due === undefined)
    throw new UsageError(
      from.open.length >= MOST_OPEN
        ? `${MOST_OPEN} runs of schedule ${quoted(id)} wait already, no more are taken`
        : `that run of schedule ${quoted(id)} is due already`,
    );
  const rest = { ...outcomes, dead: outcomes.dead.filter((one) => !letters.includes(one)) };
  if (dead === undefined) return { before, due };
  return { before, due: withLetters(due, rest.dead.length), outcomes: rest };
}

/** Their dead letters are forgotten, and do not run again. */
export function burying(ids: readonly string[]): Amendment {
  return {
    ...about(ids, () => "dead letters forgotten"),
    decide: (sight, now) =>
      unique(ids).flatMap((id): Change[] => {
        const before = readable(existing(sight, id));
        const { definition, outcomes, due } = before;
        if (outcomes.dead.length === 0 && due?.dead === undefined) return [];
        const from = due ?? firstDue(id, definition, now);
        return [{ before, due: withLetters(from, 0), outcomes: { ...outcomes, dead: [] } }];
      }),
  };
}

function withLetters({ dead: _, ...due }: Due, count: number): Due {
  return count === 0 ? due : { ...due, dead: count };
}

const unique = (ids: readonly string[]): string[] => [...new Set(ids)];

type Readable = Seen & { readonly definition: Definition };

function readable(seen: Seen): Readable {
  const { definition, fault, id } = seen;
  if (definition === undefined)
    throw new UsageError(
      `schedule ${quoted(id)} cannot be read: ${fault ?? "it has no definition"}; put it right with: signalbox schedule edit`,
    );
  return { ...seen, definition };
}

function existing(sight: Sight, id: string): Seen {
  const seen = seenIn(sight, id);
  if (seen.definitionMod === 0n)
    throw new NotFoundError(`there is no schedule ${quoted(id)}; see: signalbox schedule list`);
  return seen;
}

function seenIn({ schedules }: Sight, id: string): Seen {
  const nothing = { runs: [], dead: [] };
  return schedules.get(id) ?? { id, definitionMod: 0n, dueMod: 0n, outcomesMod: 0n, outcomes: nothing };
}

/** Names in an audit record, of more only how many. */
const MOST_NAMED = 10;

function about(given: readonly string[], what: () => string): Pick<Amendment, "target" | "ids" | "outcome"> {
  const ids = unique(given);
  const [only = ""] = ids;
  const named = ids.slice(0, MOST_NAMED).join(", ");
  const rest = ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : "";
  return {
    ids,
    target: ids.length === 1 ? `schedule ${only}` : `schedules ${named}${rest}`,
    outcome: (changes) => (ids.length === 1 ? what() : `${what()}: ${changes.length}`),
  };
}
