import { type Claim, claimsNamed, claimsOf, whoIs } from "../../model/claims.ts";
import { recordsAbout } from "../../model/detail/detail.ts";
import { runDetail } from "../../model/detail/run.ts";
import { explain } from "../../model/explain.ts";
import type { Picture } from "../../model/picture.ts";
import { sceneOf } from "../../model/tables/scene.ts";
import { QUEUE_ROOMS } from "../look.ts";
import { inOneSight, pulsesOf, recentAudit, sightOf, unknownOne } from "../sight.ts";
import { theOne } from "../the-one.ts";
import type { Desk } from "../with-store.ts";
import { claimRow, explanationJson, runnerJson, type Shown } from "./show-json.ts";
import { concerned, withHistories } from "./why-sight.ts";

/** A run: everything is read, for its tickets may stand anywhere. */
export async function showRun(desk: Desk, word: string): Promise<Shown> {
  const { picture, claim } = await inOneSight(async () => {
    const all = await sightOf(desk, QUEUE_ROOMS, [recentAudit(desk)]);
    const found = runNamed(all, word);
    return { picture: await withHistories(desk, all, [found]), claim: found };
  });
  const wall = desk.clock.wall();
  const explanation = explain(picture, claim, wall);
  const own = claim.stands.map(({ place }) => place);
  const pulses = await pulsesOf(desk, [...own, ...concerned([explanation])]);
  return {
    revision: picture.revision,
    detail: runDetail(picture, claim, { wall, pulses }),
    document: {
      row: claimRow(claim, sceneOf(picture, wall)),
      runner: own[0] && runnerJson(own[0], pulses),
      why: explanationJson(explanation, pulses),
      audit: recordsAbout(picture.audit, (target) => target === `run ${claim.run}`),
    },
  };
}

/** @throws SignalboxError 1 where no run, or several, are meant */
function runNamed(picture: Picture, word: string): Claim {
  const claims = claimsOf(picture);
  const claim = theOne(word, claimsNamed(claims, word));
  return claim ?? unknownOne("run", word, namesOf(claims), ", or it has ended");
}

function* namesOf(claims: ReadonlyMap<string, Claim>): Generator<string> {
  for (const { run, stands } of claims.values()) {
    yield run;
    if (stands[0] !== undefined) yield whoIs(stands[0].place);
  }
}
