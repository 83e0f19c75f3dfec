import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { typeOf } from "../../schedule/definition.ts";
import { readAllSeen, type Seen } from "../../work/schedule/seen.ts";
import { json, table } from "../table.ts";
import { withStore } from "../with-store.ts";
import { argvText } from "./change-lines.ts";
import { shownInstant } from "./instant.ts";

const HEAD = ["key", "type", "cron", "delay", "timezone", "next_time", "next_run_time", "data"];

/** PerfectSched's table: `delay` in seconds. */
export const execute = withStore(async (call, world, desk) => {
  const { revision, schedules } = await readAllSeen(desk, desk.signal);
  const rows = [...schedules.values()];
  if (call.flags.json) {
    world.out(json({ revision, rows: rows.map(rowJson) }));
    return EXIT.ok;
  }
  if (rows.length > 0) world.out(table(HEAD, rows.map(rowOf)));
  world.out(`${rows.length} entries.\n`);
  if (call.verbosity >= 0)
    for (const { id, fault } of rows)
      if (fault !== undefined)
        world.err(`signalbox: note: schedule ${clean(id)} cannot be read: ${clean(fault)}\n`);
  return EXIT.ok;
});

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
