import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { parseCron } from "../../schedule/cron.ts";
import { explainCron } from "../../schedule/explain.ts";
import { textFlag } from "../flags.ts";
import type { Call, Execute, Surroundings } from "../spec.ts";
import { json } from "../table.ts";
import { withStore } from "../with-store.ts";
import { definitionLines } from "./definition-lines.ts";
import { cronGiven, readOne } from "./one.ts";

export const execute: Execute = async (call, world) => {
  const given = cronGiven(call);
  if (given === undefined) return await ofSchedule(call, world);
  const { cron, timezone } = given;
  const where = textFlag(call, "timezone") === undefined ? "" : `, ${timezone}`;
  return tell(call, world, { cron }, [`${explainCron(parseCron(cron))}${where}`]);
};

const ofSchedule = withStore(async (call, world, desk) => {
  const { id, definition } = await readOne(desk, call.args[0] ?? "");
  return tell(call, world, { id, cron: definition.cron }, definitionLines(id, definition));
});

function tell(call: Call, world: Surroundings, about: object, lines: readonly string[]): number {
  if (call.flags.json) world.out(json({ ...about, words: lines }));
  else for (const line of lines) world.out(`${clean(line)}\n`);
  return EXIT.ok;
}
