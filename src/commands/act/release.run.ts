import { EXIT, SignalboxError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import { type Claim, claimsNamed, claimsOf, isHolder, whoIs } from "../../model/claims.ts";
import { pictureOf, QUEUE_ROOMS } from "../look.ts";
import { theOne } from "../the-one.ts";
import { withStore } from "../with-store.ts";
import { evict } from "./evict.ts";

export const execute = withStore(async (call, world, desk) => {
  const [word = ""] = call.args;
  const picture = await pictureOf(desk, QUEUE_ROOMS);
  const claim = theOne(word, claimsNamed(claimsOf(picture), word));
  if (claim !== undefined) refuseHolder(claim);
  const stands = claim?.stands ?? [];
  return await evict(call, world, desk, {
    ...{ action: "release", target: `run ${claim?.run ?? word}`, picture },
    places: stands.map(({ place }) => place),
    queues: stands.map(({ queue: { kind, name } }) => ({ kind, name })),
    words: `signalbox release ${claim?.run ?? word}`,
    nothing: `no run ${quoted(word)} waits for anything`,
  });
});

/** Throwing out a waiter ends no command; this would. */
function refuseHolder(claim: Claim): void {
  const [first] = claim.stands;
  if (first === undefined || !isHolder(claim)) return;
  const { queue, place } = first;
  throw new SignalboxError(
    EXIT.changed,
    `nothing was done: ${whoIs(place)} does not wait, it holds ${queue.kind} ${quoted(queue.name)}; ` +
      `end it with: signalbox reset ${queue.kind} ${queue.name} --run ${claim.run}`,
  );
}
