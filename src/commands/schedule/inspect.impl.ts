import { readAllStoredSchedules, type StoredSchedule } from "../../operate/stored-schedules.ts";
import { findCalendarFault } from "../../schedule/calendar/day-rule.ts";
import { getScheduleType } from "../../schedule/definition.ts";
import type { DueState } from "../../schedule/state/due.ts";
import { getListFlag } from "../command-line/flags.ts";
import { formatInstantUtc } from "../command-line/instant.ts";
import { formatJsonDocument } from "../json-output.ts";
import { createReadCommand } from "../read-command.ts";
import type { CommandExecutor } from "../spec.ts";
import { renderTextTable } from "../table.ts";
import { formatArgv } from "./describe-schedule.ts";

/** Column titles of PerfectSched's table. */
export const HEAD = ["key", "type", "cron", "delay", "timezone", "next_time", "next_run_time", "data"];

/** A schedule in a listing. */
export interface ListedSchedule {
  /** Cells in the order of `HEAD`, with unescaped text from etcd. `delay` is in seconds. */
  cells: readonly string[];
  /** When its next occurrence may start, ms since the epoch; undefined if it has none. */
  runAt: number | undefined;
}

/** Creates a command that lists schedules. @param renderText  renders the rows */
export const createScheduleListCommand = (
  renderText: (schedules: readonly ListedSchedule[]) => string,
): CommandExecutor =>
  createReadCommand(async (call, io, context) => {
    const { revision, schedules, calendars } = await readAllStoredSchedules(context, context.signal);
    const tags = getListFlag(call, "tag");
    const rows = [...schedules.values()].filter(({ definition }) =>
      tags.every((tag) => definition?.tags?.includes(tag) === true),
    );
    if (call.flags.json) {
      io.writeOutput(formatJsonDocument({ revision, rows: rows.map(toRowJson) }));
      return;
    }
    io.writeOutput(renderText(rows.map((seen) => ({ cells: toRow(seen), runAt: getRunAt(seen) }))));
    io.writeOutput(`${rows.length} entries.\n`);
    for (const { id, fault, definition } of rows) {
      if (fault !== undefined) context.printMessage(`note: schedule ${id} cannot be read: ${fault}`);
      const missing = definition && findCalendarFault(definition, calendars);
      if (missing !== undefined) context.printMessage(`note: schedule ${id} does not fire: ${missing}`);
    }
  });

export const execute = createScheduleListCommand((schedules) =>
  schedules.length === 0
    ? ""
    : renderTextTable(
        HEAD,
        schedules.map(({ cells }) => cells),
      ),
);

function getRunAt({ due }: StoredSchedule): number | undefined {
  return due?.next === undefined ? undefined : due.runAt;
}

function toRow({ id, definition, due }: StoredSchedule): string[] {
  if (definition === undefined) return [id, "?", "?", "?", "?", "?", "?", "?"];
  const { cron, timezone, delay = 0, data, command } = definition;
  const type = command === undefined ? getScheduleType(id, definition) : "-";
  return [
    id,
    type,
    cron,
    String(delay / 1000),
    timezone,
    ...formatTimes(due),
    data !== undefined ? JSON.stringify(data) : command === undefined ? "" : formatArgv(command),
  ];
}

/** Formats when the next occurrence is due, and when it may start. */
function formatTimes(due: DueState | undefined): [string, string] {
  if (due === undefined) return ["-", "-"];
  if (due.next === undefined) return ["never", "never"];
  return [formatInstantUtc(due.next), formatInstantUtc(due.runAt)];
}

function toRowJson({ id, definition, fault, due, definitionMod }: StoredSchedule): object {
  return {
    id,
    modRevision: definitionMod,
    definition: definition ?? null,
    ...(fault !== undefined && { fault }),
    nextTime: due?.next ?? null,
    nextRunTime: due?.next === undefined ? null : due.runAt,
    open: due?.open ?? [],
    last: due?.last ?? null,
  };
}
