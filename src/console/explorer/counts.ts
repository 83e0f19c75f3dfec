import type { NamedQueue, Picture } from "../../model/picture.ts";
import { problems } from "../../model/problems/index.ts";
import { holds } from "../../protocol/admission.ts";
import type { Counts } from "./tree.ts";

/** Problems come by themselves, as time passes; they are looked for so many times as rarely as it takes, ms; but a count that is older is none. */
const EVERY = 500;
const RARELY = 100;
const SELDOM = 10_000;

/** Before anything was read: nothing is not none. */
const UNREAD: Counts = {};

/** How many rows tabs have, without making them. */
export class Counter {
  #known: { picture: Picture; counts: Counts } | undefined;
  #problems = { count: 0, due: 0 };
  readonly #now: () => number;

  /** @param now  monotonic clock, ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param wall  ms since the epoch @returns the same object as long as nothing is another */
  of(picture: Picture, wall: number): Counts {
    if (picture.revision === 0n) return UNREAD;
    const problems = this.#problemsIn(picture, wall);
    const known = this.#known;
    if (known?.picture === picture && known.counts.problems === problems) return known.counts;
    const rest = known?.picture === picture ? known.counts : cheap(picture);
    const counts = { ...rest, problems };
    this.#known = { picture, counts };
    return counts;
  }

  #problemsIn(picture: Picture, wall: number): number {
    const start = this.#now();
    if (start < this.#problems.due) return this.#problems.count;
    const { length: count } = problems(picture, wall);
    const end = this.#now();
    this.#problems = { count, due: end + Math.min(SELDOM, Math.max(EVERY, RARELY * (end - start))) };
    return count;
  }
}

function cheap(picture: Picture): Counts {
  const locks = new Set(picture.histories.keys());
  const resources = new Set(picture.resources.keys());
  let [queues, history] = [0, 0];
  for (const queue of picture.queues.values()) {
    const { kind, name } = queue;
    if (kind === "lock") locks.add(name);
    else resources.add(name);
    queues += waitingIn(queue);
  }
  for (const runs of picture.histories.values()) history += runs.length;
  return {
    ...{ locks: locks.size, resources: resources.size, queues, hosts: picture.hosts.size },
    ...{
      groups: picture.groups.size,
      drains: picture.drains.size,
      schedules: picture.schedules.size,
      history,
      audit: picture.audit.size,
    },
  };
}

/** Waiters of queues that have not changed. */
const waiting = new WeakMap<NamedQueue, number>();

function waitingIn(queue: NamedQueue): number {
  const known = waiting.get(queue);
  if (known !== undefined) return known;
  const count = queue.places.filter((place) => !holds(place)).length;
  waiting.set(queue, count);
  return count;
}
