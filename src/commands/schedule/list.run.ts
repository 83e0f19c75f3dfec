import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { typeOf } from "../../schedule/definition.ts";
import { readAllSeen, type Seen } from "../../work/schedule/seen.ts";
import type { Execute } from "../spec.ts";
import { json, table } from "../table.ts";
import { withStore } from "../with-store.ts";
import { argvText } from "./change-lines.ts";
import { shownInstant } from "./instant.ts";

/** Heads of PerfectSched's table. */
export const HEAD = ["key", "type", "cron", "delay", "timezone", "next_time", "next_run_time", "data"];

/** A schedule in a listing. */
export interface Listed {
  /** Under `HEAD`; other people's text. `delay` in seconds. */
  cells: readonly string[];
  /** When its next occurrence may be taken, ms since the epoch; undefined: it has none. */
  runAt: number | undefined;
}

/** The work of a command that lists schedules. @param text  what it makes of them */
export const listing = (text: (schedules: readonly Listed[]) => string): Execute =>
  withStore(async (call, world, desk) => {
    const { revision, schedules } = await readAllSeen(desk, desk.signal);
    const rows = [...schedules.values()];
    if (call.flags.json) {
      world.out(json({ revision, rows: rows.map(rowJson) }));
      return EXIT.ok;
    }
    world.out(text(rows.map((seen) => ({ cells: rowOf(seen), runAt: runAtOf(seen) }))));
    world.out(`${rows.length} entries.\n`);
    if (call.verbosity >= 0)
      for (const { id, fault } of rows)
        if (fault !== undefined)
          world.err(`signalbox: note: schedule ${clean(id)} cannot be read: ${clean(fault)}\n`);
    return EXIT.ok;
  });

export const execute = listing((schedules) =>
  schedules.length === 0
    ? ""
    : table(
        HEAD,
        schedules.map(({ cells }) => cells),
      ),
);

function runAtOf({ due }: Seen): number | undefined {
  return due?.next === undefined ? undefined : due.runAt;
}

function rowOf({ id, definition, due }: Seen): string[] {
  if (definition === undefined) return [id, "?", "?", "?", "?", "?", "?", "?"];
  const { cron, timezone, delay = 0, data, command } = definition;
  const next = due?.next === undefined ? "never" : shownInstant(due.next);
  const runAt = due?.next === undefined ? "never" : shownInstant(due.runAt);
  return [
    ...[id, command === undefined ? typeOf(id, definition) : "-", cron, String(delay / 1000), timezone],
    ...[due === undefined ? "-" : next, due === undefined ? "-" : runAt],
    data !== undefined ? JSON.stringify(data) : command === undefined ? "" : argvText(command),
  ];
}

function rowJson({ id, definition, fault, due, definitionMod }: Seen): object {
  return {
    ...{ id, modRevision: definitionMod, definition: definition ?? null },
    ...(fault !== undefined && { fault }),
    ...{ nextTime: due?.next ?? null, nextRunTime: due?.next === undefined ? null : due.runAt },
    ...{ open: due?.open ?? [], last: due?.last ?? null },
  };
}
