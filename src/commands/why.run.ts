import { EXIT } from "../base/errors.ts";
import { clean, quoted } from "../base/text.ts";
import { type Claim, claimsNamed, claimsOf, isHolder } from "../model/claims.ts";
import { type Explanation, explain } from "../model/explain.ts";
import { explanationLines } from "../model/explain-text.ts";
import { type Picture, queueIn } from "../model/picture.ts";
import { occupant } from "../model/queue-row.ts";
import { drainJson, occupantJson } from "../model/tables/cells.ts";
import { claimState, runJson } from "../model/tables/runs.ts";
import { QUEUE_ROOMS } from "./look.ts";
import { only, pulsesOf, sightOf, unknownOne } from "./sight.ts";
import { json } from "./table.ts";
import { theOne } from "./the-one.ts";
import { type Desk, withStore } from "./with-store.ts";

/** Waiters of a lock that are explained; the reasons of those further back are the same. */
const MOST = 3;

export const execute = withStore(async ({ args: [word = ""], flags }, world, desk) => {
  const picture = await sightOf(desk, QUEUE_ROOMS);
  const { claims, nothing } = meant(picture, word);
  const wall = desk.clock.wall();
  const full = await withHistories(desk, picture, claims);
  const explanations = claims.map((claim) => explain(full, claim, wall));
  const ahead = explanations.flatMap(({ obstacles }) => obstacles.flatMap(({ ahead: places }) => places));
  const beats = await pulsesOf(desk, ahead);
  const lines = explanations.flatMap((one) => explanationLines(one, wall, beats));
  if (flags.json) world.out(json({ revision: picture.revision, explanations: explanations.map(document) }));
  else world.out([...(lines.length === 0 ? [nothing] : lines)].map((line) => `${clean(line)}\n`).join(""));
  return EXIT.ok;
});

/** The runs that a word means: those that wait for a lock or resource of that name, else the run it names. */
function meant(picture: Picture, word: string): { claims: readonly Claim[]; nothing: string } {
  const all = claimsOf(picture);
  for (const kind of ["lock", "resource"] as const) {
    const queue = queueIn(picture, kind, word);
    if (queue === undefined) continue;
    const claims = queue.places.flatMap(({ run }) => all.get(run) ?? []).filter((claim) => !isHolder(claim));
    return { claims: claims.slice(0, MOST), nothing: `nobody waits for ${kind} ${quoted(word)}; it is held` };
  }
  const claim = theOne(word, claimsNamed(all, word));
  if (claim === undefined) return unknownOne("run", word, namesOf(picture));
  return { claims: [claim], nothing: "" };
}

function namesOf(picture: Picture): string[] {
  return [...picture.queues.values()].map(({ name }) => name);
}

/** The histories of the locks that these runs wait for: an estimate rests on them. */
async function withHistories(desk: Desk, picture: Picture, claims: readonly Claim[]): Promise<Picture> {
  const locks = new Set(
    claims.flatMap(({ stands }) =>
      stands.flatMap(({ queue }) => (queue.kind === "lock" ? [queue.name] : [])),
    ),
  );
  if (locks.size === 0) return picture;
  const past = await sightOf(
    desk,
    [],
    [...locks].map((name) => only(desk.keys.history(name))),
  );
  return { ...picture, histories: past.histories };
}

function document({ claim, state, obstacles, drains, estimate }: Explanation): object {
  return {
    ...{ ...runJson(claim, claimState(claim)), verdict: state },
    obstacles: obstacles.map(({ ahead, ...obstacle }) => ({
      ...obstacle,
      ahead: ahead.map((place) => occupantJson(occupant(place))),
    })),
    drains: drains.map(drainJson),
    estimate,
  };
}
