import { recordsAbout } from "../../model/detail/detail.ts";
import { isAboutSchedule, scheduleDetail } from "../../model/detail/schedule.ts";
import { sceneOf } from "../../model/tables/scene.ts";
import { schedules } from "../../model/tables/schedules.ts";
import { parseOutcomes } from "../../schedule/outcome.ts";
import { only, pulsesOf, recentAudit, sightOf, unknownOne } from "../sight.ts";
import type { Desk } from "../with-store.ts";
import type { Shown } from "./show-json.ts";

/** A schedule: its own keys, and the workers. @throws SignalboxError 1 where there is none */
export async function showSchedule(desk: Desk, id: string): Promise<Shown> {
  const { keys, clock } = desk;
  const own = [keys.schedule(id), keys.due(id), keys.running(id), keys.outcomes(id)].map(only);
  const ranges = [...own, keys.runningsOf(id), recentAudit(desk)];
  const picture = await sightOf(desk, ["workers", "groups"], ranges);
  const executions = picture.executions.get(id) ?? [];
  const pulses = await pulsesOf(desk, executions);
  const wall = clock.wall();
  const detail = scheduleDetail(picture, id, { wall, pulses });
  if (detail === undefined) return unknownOne("schedule", id, await idsOf(desk, picture.revision));
  const [row] = schedules.rows(picture, sceneOf(picture, wall));
  const outcomes = parseOutcomes(picture.outcomes.get(id));
  return {
    revision: picture.revision,
    detail,
    document: {
      row: row && schedules.json(row),
      ...{ history: outcomes.runs, dead: outcomes.dead },
      audit: recordsAbout(picture.audit, (target) => isAboutSchedule(target, id)),
    },
  };
}

/** To say what was probably meant. */
async function idsOf(desk: Desk, revision: bigint): Promise<Iterable<string>> {
  return (await sightOf(desk, ["schedules"], [], revision)).schedules.keys();
}
