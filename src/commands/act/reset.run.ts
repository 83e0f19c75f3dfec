import { nearest, quoted } from "../../base/text.ts";
import { claimsNamed, claimsOf } from "../../model/claims.ts";
import { type Picture, queueIn } from "../../model/picture.ts";
import { resetTargets } from "../../model/targets.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import { checkedName } from "../../protocol/names.ts";
import { textFlag } from "../flags.ts";
import { pictureOf, QUEUE_ROOMS } from "../look.ts";
import { shellWord } from "../shell-word.ts";
import { theOne } from "../the-one.ts";
import { withStore } from "../with-store.ts";
import { evict } from "./evict.ts";

export const execute = withStore(async (call, world, desk) => {
  const [kindName = "", nameGiven = ""] = call.args;
  const kind: QueueKind = kindName === "resource" ? "resource" : "lock";
  const name = checkedName(kind, nameGiven);
  const picture = await pictureOf(desk, QUEUE_ROOMS);
  const wanted = textFlag(call, "run");
  const run = wanted === undefined ? undefined : runIn(picture, kind, name, wanted);
  const places = resetTargets(picture, kind, name, run);
  return await evict(call, world, desk, {
    ...{ action: "reset", target: `${kind} ${name}`, picture, places },
    queues: [{ kind, name }],
    words: `signalbox reset ${kind} ${shellWord(name)}${run === undefined ? "" : ` --run ${run}`}`,
    nothing: nothingHeld(picture, kind, name),
  });
});

/** The run that is meant, if it stands in the queue at all: one that is gone is no mistake. */
function runIn(picture: Picture, kind: QueueKind, name: string, word: string): string {
  const places = queueIn(picture, kind, name)?.places ?? [];
  const here = new Set(places.map((place) => place.run));
  const claims = new Map([...claimsOf(picture)].filter(([run]) => here.has(run)));
  return theOne(word, claimsNamed(claims, word))?.run ?? word;
}

function nothingHeld(picture: Picture, kind: QueueKind, name: string): string {
  const queue = queueIn(picture, kind, name);
  if (queue !== undefined) return `nobody holds ${kind} ${quoted(name)}; ${queue.places.length} wait`;
  const known = [...picture.queues.values()].filter((one) => one.kind === kind).map((one) => one.name);
  const meant = nearest(name, known);
  const hint = meant === undefined ? "" : `; did you mean ${quoted(meant)}?`;
  return `nobody holds ${kind} ${quoted(name)}, nor waits for it${hint}`;
}
