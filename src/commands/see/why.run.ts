import { EXIT } from "../../base/errors.ts";
import { nameFault, quoted } from "../../base/text.ts";
import { type Claim, claimsNamed, claimsOf, whoIs } from "../../model/claims.ts";
import { explain } from "../../model/explain.ts";
import { explanationLines } from "../../model/explain-text.ts";
import { type Picture, queueIn } from "../../model/picture.ts";
import { holds } from "../../protocol/admission.ts";
import { QUEUE_ROOMS } from "../look.ts";
import { inOneSight, only, pulsesOf, sightOf, unknownOne } from "../sight.ts";
import { json } from "../table.ts";
import { theOne } from "../the-one.ts";
import { type Desk, withStore } from "../with-store.ts";
import { proseLines } from "./detail.ts";
import { lookOf } from "./paint.ts";
import { explanationJson } from "./show-json.ts";
import { concerned, sightOfLock, withHistories } from "./why-sight.ts";

/** Waiters of a lock that are explained; the reasons of those further back are the same. */
const MOST = 3;

/** What a word is about: runs that wait, and what is to be said beside them. */
interface Meant {
  claims: readonly Claim[];
  notes: readonly string[];
}

export const execute = withStore(async ({ args: [word = ""], flags }, world, desk) => {
  const { picture, claims, notes } = await inOneSight(() => sightFor(desk, word));
  const wall = desk.clock.wall();
  const explanations = claims.map((claim) => explain(picture, claim, wall));
  const pulses = await pulsesOf(desk, concerned(explanations));
  if (flags.json) {
    const documents = explanations.map((one) => explanationJson(one, pulses));
    world.out(json({ revision: picture.revision, explanations: documents, notes }));
    return EXIT.ok;
  }
  const lines = explanations.flatMap((one) => explanationLines(one, wall, pulses));
  const look = lookOf(world, { ascii: false, wide: false });
  world.out(`${proseLines([...lines, ...notes], look).join("\n")}\n`);
  return EXIT.ok;
});

/** What must be read to answer, and what it says. */
async function sightFor(desk: Desk, word: string): Promise<Meant & { picture: Picture }> {
  const near = nameFault(word) === undefined ? await sightOfLock(desk, word) : undefined;
  if (near !== undefined) return { ...(await meant(desk, near, word)), picture: near };
  const all = await sightOf(desk, QUEUE_ROOMS);
  const found = await meant(desk, all, word);
  return { ...found, picture: await withHistories(desk, all, found.claims) };
}

/** The runs that a word means: those that wait for a lock or resource of that name, else the run it names. */
async function meant(desk: Desk, picture: Picture, word: string): Promise<Meant> {
  const all = claimsOf(picture);
  const queues = (["lock", "resource"] as const).map((kind) => waitersOf(picture, all, kind, word));
  if (queues.some((queue) => queue !== undefined)) {
    return {
      claims: [...new Set(queues.flatMap((queue) => queue?.claims ?? []))],
      notes: queues.flatMap((queue) => queue?.notes ?? []),
    };
  }
  const claim = theOne(word, claimsNamed(all, word));
  if (claim !== undefined) return { claims: [claim], notes: [] };
  const free = await freeThing(desk, picture, word);
  if (free !== undefined) return { claims: [], notes: [free] };
  const names = [...picture.queues.values()].map(({ name }) => name);
  return unknownOne("run", word, names, ", and nothing is known of a lock or resource of that name");
}

/** Those who wait for a lock or resource; undefined where nobody stands in its queue. */
function waitersOf(
  picture: Picture,
  claims: ReadonlyMap<string, Claim>,
  kind: "lock" | "resource",
  name: string,
): Meant | undefined {
  const queue = queueIn(picture, kind, name);
  if (queue === undefined) return undefined;
  const waiting = queue.places.filter((place) => !holds(place));
  const found = [...new Set(waiting.map(({ run }) => run))].flatMap((run) => claims.get(run) ?? []);
  const holders = queue.places.filter(holds);
  const who = holders.length === 1 && holders[0] ? whoIs(holders[0]) : `${holders.length} runs`;
  if (found.length === 0)
    return { claims: [], notes: [`nobody waits for ${kind} ${quoted(name)}; it is held by ${who}`] };
  const more = found.length - MOST;
  const notes =
    more > 0 ? [`and ${more} more ${more === 1 ? "waits" : "wait"} for ${kind} ${quoted(name)}`] : [];
  return { claims: found.slice(0, MOST), notes };
}

/** A sentence about a lock or resource that is known, though nobody stands in its queue. */
async function freeThing(desk: Desk, picture: Picture, word: string): Promise<string | undefined> {
  if (nameFault(word) !== undefined) return undefined;
  const { revision } = picture;
  const { histories } = await sightOf(desk, [], [only(desk.keys.history(word))], revision);
  const drain = [...picture.drains.values()].find(
    ({ scope, name }) => name === word && (scope === "lock" || scope === "resource"),
  );
  const kind =
    drain?.scope ?? (picture.resources.has(word) ? "resource" : histories.size > 0 ? "lock" : undefined);
  if (kind === undefined) return undefined;
  const drained = drain === undefined ? "" : `; it is drained by ${drain.by}`;
  return `nobody waits for ${kind} ${quoted(word)}, and nobody holds it${drained}`;
}
