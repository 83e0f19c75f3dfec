import type { Snapshot } from "../snapshot/snapshot.ts";
import {
  buildUnknownKeyProblem,
  findDrainProblems,
  findGroupProblems,
  findHostProblems,
  findMalformedConfig,
} from "./configuration.ts";
import type { Problem } from "./problem.ts";
import { findQueueProblems } from "./queue.ts";
import { findScheduleProblems } from "./schedule.ts";

/**
 * Finds the problems in a snapshot, failures first. Collections that were not read have no problems.
 * @param wall  wall clock, ms since the epoch
 */
export function findProblems(snapshot: Snapshot, wall: number): Problem[] {
  const inputs = { snapshot, wall };
  const found = [
    ...[...snapshot.strange].map(([key, fault]) => buildUnknownKeyProblem(key, fault)),
    ...[...snapshot.queues.values()].flatMap((queue) => findQueueProblems(queue, inputs)),
    ...findMalformedConfig(snapshot),
    ...findDrainProblems(snapshot, wall),
    ...findGroupProblems(inputs),
    ...findHostProblems(inputs),
    ...findScheduleProblems(inputs),
  ];
  return found.sort((a, b) => Number(b.level === "failure") - Number(a.level === "failure"));
}
