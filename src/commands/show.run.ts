import { EXIT } from "../base/errors.ts";
import { canonicalHost } from "../fleet/groups.ts";
import { claimsNamed, claimsOf } from "../model/claims.ts";
import type { Detail } from "../model/detail/detail.ts";
import { groupDetail, hostDetail, runDetail } from "../model/detail/others.ts";
import { queueDetail } from "../model/detail/queue.ts";
import { type Picture, queueIn } from "../model/picture.ts";
import { emptyRow, queueRow } from "../model/queue-row.ts";
import { VIEWS, type ViewId } from "../model/tables/index.ts";
import { ABOUT } from "../model/tables/queue-columns.ts";
import { claimState, runJson } from "../model/tables/runs.ts";
import { sceneOf } from "../model/tables/scene.ts";
import type { QueueKind } from "../protocol/keys.ts";
import { checkedName } from "../protocol/names.ts";
import { detailText } from "./detail.ts";
import { QUEUE_ROOMS } from "./look.ts";
import { only, pulsesOf, sightOf, unknownOne } from "./sight.ts";
import { json } from "./table.ts";
import { theOne } from "./the-one.ts";
import { type Desk, withStore } from "./with-store.ts";

/** What is shown of a thing, for people and for programs. */
interface Shown {
  revision: bigint;
  detail: Detail;
  document: object;
}

export const execute = withStore(async ({ args: [kind = "", name = ""], flags }, world, desk) => {
  const { revision, detail, document } = await shown(desk, kind, name);
  world.out(flags.json ? json({ revision, kind, ...document }) : detailText(detail));
  return EXIT.ok;
});

function shown(desk: Desk, kind: string, name: string): Promise<Shown> {
  if (kind === "lock" || kind === "resource") return showQueue(desk, kind, checkedName(kind, name));
  if (kind === "host") return showHost(desk, name);
  if (kind === "group") return showGroup(desk, name);
  return showRun(desk, name);
}

async function showQueue(desk: Desk, kind: QueueKind, name: string): Promise<Shown> {
  const { keys, clock } = desk;
  const history = kind === "lock" ? [only(keys.history(name))] : [];
  const rooms = ["resourceConfigs", "groups", "drains", "hosts", "audits"] as const;
  const picture = await sightOf(desk, rooms, [keys.queue(kind, name), ...history]);
  const queue = queueIn(picture, kind, name);
  const beats = await pulsesOf(desk, queue?.places ?? []);
  const wall = clock.wall();
  const scene = sceneOf(picture, wall);
  const row = queue === undefined ? emptyRow(kind, name, scene) : queueRow(queue, scene);
  const runners = (queue?.places ?? []).map(({ run, session }) => ({
    run,
    session: beats.get(session) ?? null,
  }));
  const past = { history: picture.histories.get(name) ?? [], configured: picture.resources.get(name)?.value };
  return {
    revision: picture.revision,
    detail: queueDetail(picture, kind, name, wall, beats),
    document: { ...ABOUT.json({ ...row, wall }), runners, ...past },
  };
}

async function showHost(desk: Desk, name: string): Promise<Shown> {
  const picture = await sightOf(desk, [...QUEUE_ROOMS, "hosts", "audits"]);
  const row = rowOf(picture, "hosts", canonicalHost(name), desk.clock.wall());
  if (row === undefined) return unknownOne("host", name, picture.hosts.keys());
  return {
    revision: picture.revision,
    detail: hostDetail(picture, name, desk.clock.wall()),
    document: row,
  };
}

async function showGroup(desk: Desk, name: string): Promise<Shown> {
  const picture = await sightOf(desk, ["groups", "drains", "hosts", "audits"]);
  const row = rowOf(picture, "groups", name, desk.clock.wall());
  if (row === undefined) return unknownOne("group", name, picture.groups.keys());
  return { revision: picture.revision, detail: groupDetail(picture, name, desk.clock.wall()), document: row };
}

async function showRun(desk: Desk, word: string): Promise<Shown> {
  const picture = await sightOf(desk, [...QUEUE_ROOMS, "hosts"]);
  const claims = claimsOf(picture);
  const claim = theOne(word, claimsNamed(claims, word));
  if (claim === undefined) return unknownOne("run", word, claims.keys());
  const beats = await pulsesOf(
    desk,
    claim.stands.map(({ place }) => place),
  );
  return {
    revision: picture.revision,
    detail: runDetail(picture, claim, desk.clock.wall(), beats),
    document: { ...runJson(claim, claimState(claim)), session: [...beats.values()][0] ?? null },
  };
}

/** One row of a view, for programs. */
function rowOf(picture: Picture, id: ViewId, key: string, wall: number): object | undefined {
  return VIEWS[id]((view) => {
    const rows = view.of === "picture" ? view.rows(picture, sceneOf(picture, wall)) : [];
    const row = rows.find((one) => view.key(one) === key);
    return row === undefined ? undefined : view.json(row);
  });
}
