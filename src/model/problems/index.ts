import type { Picture } from "../picture.ts";
import { drainProblems, groupProblems, hostProblems, keptProblems, strange } from "./kept.ts";
import { PATIENCE, type Patience, type Problem } from "./problem.ts";
import { queueProblems } from "./queue.ts";
import { scheduleProblems } from "./schedule.ts";

export { PATIENCE, type Patience, type Problem, problemId } from "./problem.ts";

/**
 * What is wrong in a picture, the worst first. Rooms that were not read have no problems.
 * @param wall  wall clock, ms since the epoch
 */
export function problems(picture: Picture, wall: number, patience: Patience = PATIENCE): Problem[] {
  const look = { picture, wall, patience };
  const found = [
    ...[...picture.strange].map(([key, fault]) => strange(key, fault)),
    ...[...picture.queues.values()].flatMap((queue) => queueProblems(queue, look)),
    ...keptProblems(picture),
    ...drainProblems(picture, wall),
    ...groupProblems(look),
    ...hostProblems(look),
    ...scheduleProblems(look),
  ];
  return found.sort((a, b) => Number(b.level === "failure") - Number(a.level === "failure"));
}
