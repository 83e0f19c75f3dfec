import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import {
  readAllStoredSchedules,
  readStoredSchedules,
  type StoredSchedule,
} from "../../operate/stored-schedules.ts";
import { createRealClock } from "../../process/clock.ts";
import { validateName } from "../../protocol/names.ts";
import type { Calendars } from "../../schedule/calendar/calendar.ts";
import { checkZone } from "../../schedule/cron/zone.ts";
import { NotFoundError } from "../../schedule/errors.ts";
import { compareWithCronParser } from "../../schedule/lint/compare-cron-parser.ts";
import { lintCron } from "../../schedule/lint/lint-cron.ts";
import { parsePlan } from "../../schedule/plan/plan.ts";
import { formatJsonDocument } from "../json-output.ts";
import type { Call, CommandExecutor, CommandIo } from "../spec.ts";
import { createStoreCommand } from "../store-command.ts";
import { lintSchedule, type ScheduleLintFinding } from "./inspect/lint-schedule.ts";
import { findCronArgument } from "./read-schedule.ts";

export const execute: CommandExecutor = async (call, io) => {
  const given = findCronArgument(call);
  if (given === undefined) return await lintSchedules(call, io);
  const { cron } = given;
  const zone = checkZone(given.timezone);
  return printRemarks(
    call,
    io,
    await addSecondReading(cron, lintCron(cron, zone, createRealClock().getWallTime())),
    1,
  );
};

const lintSchedules = createStoreCommand(async (call, io, context) => {
  const ids = call.args.map((id) => validateName("schedule", id));
  const sight = await (ids.length === 0
    ? readAllStoredSchedules(context, context.signal)
    : readStoredSchedules(context, ids, context.signal));
  const all = [...sight.schedules.values()];
  const missing = all.find(({ definitionMod }) => definitionMod === 0n);
  if (missing !== undefined)
    throw new NotFoundError(`there is no schedule "${clean(missing.id)}"; see: signalbox schedule list`);
  const now = context.clock.getWallTime();
  const remarks = (
    await Promise.all(all.map(async (seen) => await collectRemarks(seen, now, sight.calendars)))
  ).flat();
  return printRemarks(call, io, remarks, all.length);
});

async function collectRemarks(
  seen: StoredSchedule,
  now: number,
  calendars: Calendars,
): Promise<readonly ScheduleLintFinding[]> {
  const remarks = lintSchedule(seen, now, calendars);
  if (seen.definition === undefined) return remarks;
  return (await addSecondReading(seen.definition.cron, remarks)).map((one) => ({ id: seen.id, ...one }));
}

/** Adds how the cron-parser package reads the text, if that differs. Adds nothing if the text cannot be parsed. */
async function addSecondReading(
  text: string,
  remarks: readonly ScheduleLintFinding[],
): Promise<readonly ScheduleLintFinding[]> {
  if (remarks.some(({ level }) => level === "error")) return remarks;
  const plan = parsePlan(text);
  const second = plan.kind === "cron" ? await compareWithCronParser(plan.cron) : undefined;
  return second === undefined ? remarks : [...remarks, second];
}

function printRemarks(
  call: Call,
  io: CommandIo,
  remarks: readonly ScheduleLintFinding[],
  looked: number,
): number {
  if (call.flags.json) io.writeOutput(formatJsonDocument({ looked, rows: remarks }));
  else {
    for (const remark of remarks) io.writeOutput(`${clean(formatRemark(remark))}\n`);
    if (remarks.length === 0) io.writeOutput(`no findings in ${looked} schedule${looked === 1 ? "" : "s"}\n`);
  }
  return remarks.some(({ level }) => level === "error") ? EXIT.undone : EXIT.ok;
}

function formatRemark({ id, level, about, detail, remedy }: ScheduleLintFinding): string {
  const where = id === undefined ? "" : `${id}: `;
  return `${where}${level}: ${about}: ${detail}${remedy === undefined ? "" : `; ${remedy}`}`;
}
