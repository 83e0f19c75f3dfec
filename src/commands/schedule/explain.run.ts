import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { parseCron } from "../../schedule/cron.ts";
import { explainCron } from "../../schedule/explain.ts";
import { checkZone } from "../../schedule/zone.ts";
import { textFlag } from "../flags.ts";
import type { Call, Execute, Surroundings } from "../spec.ts";
import { json } from "../table.ts";
import { withStore } from "../with-store.ts";
import { definitionLines } from "./definition-lines.ts";
import { cronGiven, readOne } from "./one.ts";

/** A text with a space, or a macro, is no id that anybody would choose. */
export const execute: Execute = async (call, world) => {
  const [given = ""] = call.args;
  if (!/^@|\s/.test(given.trim())) return await ofSchedule(call, world);
  const zone = textFlag(call, "timezone");
  const words = `${explainCron(parseCron(given))}${zone === undefined ? "" : `, ${checkZone(zone)}`}`;
  return tell(call, world, { cron: given }, [words]);
};

const ofSchedule = withStore(async (call, world, desk) => {
  cronGiven(call);
  const { id, definition } = await readOne(desk, call.args[0] ?? "");
  return tell(call, world, { id, cron: definition.cron }, definitionLines(id, definition));
});

function tell(call: Call, world: Surroundings, about: object, lines: readonly string[]): number {
  if (call.flags.json) world.out(json({ ...about, words: lines }));
  else for (const line of lines) world.out(`${clean(line)}\n`);
  return EXIT.ok;
}
