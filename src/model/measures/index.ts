import { hasEnded } from "../../protocol/drain.ts";
import { DRAIN_SCOPES } from "../../protocol/keys.ts";
import type { Picture, Room } from "../picture.ts";
import { problems } from "../problems/index.ts";
import { type Family, figure, tally } from "./family.ts";
import { queueMeasures } from "./queues.ts";
import { scheduleMeasures } from "./schedules.ts";

export { exposition, type Family, figure } from "./family.ts";

/** What must be read for it. */
export const MEASURED: readonly Room[] = [
  ...(["locks", "resources", "resourceConfigs", "groups", "drains", "hosts", "histories"] as const),
  ...(["schedules", "dues", "runnings", "workers"] as const),
];

/** What a picture comes to in figures. @param wall  ms since the epoch */
export function measures(picture: Picture, wall: number): Family[] {
  const drained = new Map<string, number>(DRAIN_SCOPES.map((scope) => [scope, 0]));
  for (const drain of picture.drains.values())
    if (!hasEnded(drain, wall)) drained.set(drain.scope, (drained.get(drain.scope) ?? 0) + 1);
  return [
    figure("etcd_revision", "The revision that all of this was true at.", Number(picture.revision)),
    ...queueMeasures(picture, wall),
    tally("drains", "Drains that stand, by what they are of.", "scope", drained),
    figure("hosts", "Hosts that have ever said a word and are remembered.", picture.hosts.size),
    problemMeasure(picture, wall),
    ...scheduleMeasures(picture, wall),
  ];
}

function problemMeasure(picture: Picture, wall: number): Family {
  const counts = new Map<string, { level: string; kind: string; count: number }>();
  for (const { level, kind } of problems(picture, wall)) {
    const known = counts.get(`${level}/${kind}`) ?? { level, kind, count: 0 };
    counts.set(`${level}/${kind}`, { ...known, count: known.count + 1 });
  }
  const samples = [...counts.values()].map(({ count, ...labels }) => [labels, count] as const);
  return { name: "problems", help: "What an operator should look at; none where all is well.", samples };
}
