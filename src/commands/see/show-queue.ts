import { canonicalHost } from "../../fleet/groups.ts";
import { hostLiveness, type Liveness } from "../../model/alive.ts";
import { recordsAbout } from "../../model/detail/detail.ts";
import { claimsOn } from "../../model/detail/host.ts";
import { queueDetail } from "../../model/detail/queue.ts";
import { livenessOf, type Pulses } from "../../model/explain-text.ts";
import { type Picture, queueIn } from "../../model/picture.ts";
import { ABOUT, emptyLine, lineOf } from "../../model/tables/queue-columns.ts";
import { sceneOf } from "../../model/tables/scene.ts";
import { holds } from "../../protocol/admission.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { Place } from "../../protocol/ticket.ts";
import { QUEUE_ROOMS } from "../look.ts";
import { only, pulsesOf, recentAudit, sightOf } from "../sight.ts";
import type { Desk } from "../with-store.ts";
import { runnersJson, type Shown } from "./show-json.ts";

/** A lock or resource: reads its queue, and the small rooms around it. */
export async function showQueue(desk: Desk, kind: QueueKind, name: string): Promise<Shown> {
  const { keys, clock } = desk;
  const history = kind === "lock" ? [only(keys.history(name))] : [];
  const rooms = ["resourceConfigs", "groups", "drains", "hosts"] as const;
  const picture = await sightOf(desk, rooms, [keys.queue(kind, name), ...history, recentAudit(desk)]);
  const queue = queueIn(picture, kind, name);
  const places = queue?.places ?? [];
  const pulses = await pulsesOf(desk, [...places.filter(holds), ...places]);
  const holder = kind === "lock" ? places.find(holds) : undefined;
  const host = holder && (await hostOfHolder(desk, picture, holder, pulses));
  const wall = clock.wall();
  const scene = sceneOf(picture, wall);
  const line = queue === undefined ? emptyLine(kind, name, scene) : lineOf(queue, scene);
  return {
    revision: picture.revision,
    detail: queueDetail(picture, kind, name, { wall, pulses, host }),
    document: {
      row: ABOUT.json(line),
      runners: runnersJson(places, pulses),
      ...(kind === "lock" && { host, history: picture.histories.get(name) ?? [] }),
      audit: recordsAbout(picture.audit, (target) => target === `${kind} ${name}`),
    },
  };
}

/**
 * Whether the host of a holder is there. One whose runner renews is; else its other runners tell, which stand anywhere:
 * then, and only then, everything is read.
 */
async function hostOfHolder(
  desk: Desk,
  picture: Picture,
  holder: Place,
  pulses: Pulses,
): Promise<Pick<Liveness, "verdict" | "text"> | undefined> {
  const { ticket } = holder;
  if (ticket === undefined || ticket.state === "grace") return undefined;
  const name = canonicalHost(ticket.host);
  const own = livenessOf(holder, pulses);
  if (own?.verdict === "alive") return { verdict: "alive", text: "its runner is alive" };
  const all = await sightOf(desk, QUEUE_ROOMS);
  const others = claimsOn(all, new Set([name])).flatMap(({ run, stands: [first] }) =>
    first === undefined || run === holder.run || first.place.ticket?.state === "grace" ? [] : [first.place],
  );
  const beats = await pulsesOf(desk, others);
  const runners = others.flatMap((place) => livenessOf(place, beats) ?? []);
  return hostLiveness(picture.hosts.get(name), runners, desk.clock.wall(), "other runners");
}
