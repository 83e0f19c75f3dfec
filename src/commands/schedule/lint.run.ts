import { EXIT, UsageError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { realClock } from "../../process/clock.ts";
import { checkedName } from "../../protocol/names.ts";
import { parseCron } from "../../schedule/cron.ts";
import { NotFoundError } from "../../schedule/errors.ts";
import { lintCron } from "../../schedule/lint.ts";
import { secondReading } from "../../schedule/second-reading.ts";
import { checkZone } from "../../schedule/zone.ts";
import { readAllSeen, readSeen, type Seen } from "../../work/schedule/seen.ts";
import { textFlag } from "../flags.ts";
import type { Call, Execute, Surroundings } from "../spec.ts";
import { json } from "../table.ts";
import { withStore } from "../with-store.ts";
import { lintSchedule, type Remark } from "./lint-schedule.ts";

export const execute: Execute = async (call, world) => {
  const cron = textFlag(call, "cron");
  if (cron === undefined) return await ofSchedules(call, world);
  if (call.args.length > 0) throw new UsageError("--cron was given beside a KEY; one of them is enough");
  const zone = checkZone(textFlag(call, "timezone") ?? "UTC");
  return tell(call, world, await withSecond(cron, lintCron(cron, zone, realClock().wall())), 1);
};

const ofSchedules = withStore(async (call, world, desk) => {
  if (textFlag(call, "timezone") !== undefined)
    throw new UsageError("--timezone goes with --cron: a schedule has its own");
  const ids = call.args.map((id) => checkedName("schedule", id));
  const sight = await (ids.length === 0 ? readAllSeen(desk, desk.signal) : readSeen(desk, ids, desk.signal));
  const all = [...sight.schedules.values()];
  const missing = all.find(({ definitionMod }) => definitionMod === 0n);
  if (missing !== undefined)
    throw new NotFoundError(`there is no schedule "${clean(missing.id)}"; see: signalbox schedule list`);
  const now = desk.clock.wall();
  const remarks = (await Promise.all(all.map(async (seen) => await remarksOn(seen, now)))).flat();
  return tell(call, world, remarks, all.length);
});

async function remarksOn(seen: Seen, now: number): Promise<readonly Remark[]> {
  const remarks = lintSchedule(seen, now);
  if (seen.definition === undefined) return remarks;
  return (await withSecond(seen.definition.cron, remarks)).map((one) => ({ id: seen.id, ...one }));
}

/** What another reader of the text would say, behind our own; nothing where it cannot be read at all. */
async function withSecond(text: string, remarks: readonly Remark[]): Promise<readonly Remark[]> {
  if (remarks.some(({ level }) => level === "error")) return remarks;
  const second = await secondReading(parseCron(text));
  return second === undefined ? remarks : [...remarks, second];
}

function tell(call: Call, world: Surroundings, remarks: readonly Remark[], looked: number): number {
  if (call.flags.json) world.out(json({ looked, rows: remarks }));
  else {
    for (const remark of remarks) world.out(`${clean(remarkLine(remark))}\n`);
    if (remarks.length === 0)
      world.out(`nothing to say about ${looked} schedule${looked === 1 ? "" : "s"}\n`);
  }
  return remarks.some(({ level }) => level === "error") ? EXIT.undone : EXIT.ok;
}

function remarkLine({ id, level, about, detail, remedy }: Remark): string {
  const where = id === undefined ? "" : `${id}: `;
  return `${where}${level}: ${about}: ${detail}${remedy === undefined ? "" : `; ${remedy}`}`;
}
