import { canonicalHost } from "../../fleet/groups.ts";
import type { Claim } from "../../model/claims.ts";
import { recordsAbout } from "../../model/detail/detail.ts";
import { groupDetail, groupSight, spreadOverHosts } from "../../model/detail/group.ts";
import { aliveOn, hostDetail, hostOf, hostSight, isAboutHost } from "../../model/detail/host.ts";
import type { Picture } from "../../model/picture.ts";
import { drainJson } from "../../model/tables/cells.ts";
import { VIEWS, type ViewId } from "../../model/tables/index.ts";
import { sceneOf } from "../../model/tables/scene.ts";
import type { Scene } from "../../model/tables/view.ts";
import { QUEUE_ROOMS } from "../look.ts";
import { pulsesOf, recentAudit, sightOf, unknownOne } from "../sight.ts";
import type { Desk } from "../with-store.ts";
import { claimRow, runnersJson, type Shown } from "./show-json.ts";

/** A host: everything is read, for its runs may stand anywhere. @throws SignalboxError 1 where nothing names it */
export async function showHost(desk: Desk, name: string): Promise<Shown> {
  const picture = await sightOf(desk, [...QUEUE_ROOMS, "hosts"], [recentAudit(desk)]);
  const sight = hostSight(picture, name, desk.clock.wall());
  if (sight === undefined) return unknownOne("host", name, picture.hosts.keys());
  const places = placesOf(sight.claims);
  const pulses = await pulsesOf(desk, places);
  const wall = desk.clock.wall();
  const scene = sceneOf(picture, wall);
  // One that only a drain names is in no listing of hosts.
  const bare = { host: sight.name, holds: 0, waits: 0, groups: [], drains: sight.drains.map(drainJson) };
  return {
    revision: picture.revision,
    detail: hostDetail(picture, sight, wall, pulses),
    document: {
      row: rowOf(picture, "hosts", sight.name, scene) ?? bare,
      alive: aliveOn(sight, wall, pulses),
      runs: sight.claims.map((claim) => claimRow(claim, scene)),
      runners: runnersJson(places, pulses),
      audit: recordsAbout(picture.audit, (target) => isAboutHost(target, sight.name)),
    },
  };
}

/** A group, with what runs on its hosts. @throws SignalboxError 1 where there is none */
export async function showGroup(desk: Desk, name: string): Promise<Shown> {
  const picture = await sightOf(desk, [...QUEUE_ROOMS, "hosts"], [recentAudit(desk)]);
  const sight = groupSight(picture, name, desk.clock.wall());
  if (sight === undefined) return unknownOne("group", name, picture.groups.keys());
  const pulses = await pulsesOf(desk, placesOf(spreadOverHosts(sight.claims)));
  const wall = desk.clock.wall();
  const scene = sceneOf(picture, wall);
  const byHost = Map.groupBy(sight.claims, hostOf);
  return {
    revision: picture.revision,
    detail: groupDetail(picture, sight, wall, pulses),
    document: {
      row: rowOf(picture, "groups", name, scene),
      ...{ parents: sight.parents, drains: sight.drains.map(drainJson) },
      hosts: sight.hosts.map((host) => {
        const claims = byHost.get(canonicalHost(host)) ?? [];
        const record = picture.hosts.get(canonicalHost(host));
        return { host, seenAt: record?.seenAt, ...aliveOn({ record, claims }, wall, pulses) };
      }),
      runs: sight.claims.map((claim) => claimRow(claim, scene)),
      audit: recordsAbout(picture.audit, (target) => target === `group ${name}`),
    },
  };
}

/** A ticket of each run: all of one are on one session. */
function placesOf(claims: readonly Claim[]) {
  return claims.flatMap(({ stands: [first] }) => (first === undefined ? [] : [first.place]));
}

/** One row of a view, for programs. */
function rowOf(picture: Picture, id: ViewId, key: string, scene: Scene): object | undefined {
  return VIEWS[id]((view) => {
    const rows = view.of === "picture" ? view.rows(picture, scene) : [];
    const row = rows.find((one) => view.key(one) === key);
    return row === undefined ? undefined : view.json(row);
  });
}
