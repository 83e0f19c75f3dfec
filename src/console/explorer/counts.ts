import type { Picture } from "../../model/picture.ts";
import { problems } from "../../model/problems/index.ts";
import type { Counts } from "./tree.ts";

/** Problems are looked for so often at most, ms: that reads everything. */
const EVERY = 5_000;

/** How many rows tabs have, without making them. */
export class Counter {
  #known: { picture: Picture; counts: Counts } | undefined;
  #problems: { count: number; at: number } | undefined;

  /** @param wall  ms since the epoch */
  of(picture: Picture, wall: number): Counts {
    if (this.#known?.picture === picture) return this.#known.counts;
    const counts = { ...cheap(picture), problems: this.#problemsIn(picture, wall) };
    this.#known = { picture, counts };
    return counts;
  }

  #problemsIn(picture: Picture, wall: number): number {
    const known = this.#problems;
    if (known !== undefined && wall - known.at < EVERY) return known.count;
    const { length: count } = problems(picture, wall);
    this.#problems = { count, at: wall };
    return count;
  }
}

function cheap(picture: Picture): Counts {
  const locks = new Set(picture.histories.keys());
  const resources = new Set(picture.resources.keys());
  let queues = 0;
  for (const { kind, name, places } of picture.queues.values()) {
    if (kind === "lock") locks.add(name);
    else resources.add(name);
    for (const { ticket } of places) if (ticket?.state !== "held" && ticket?.state !== "grace") queues += 1;
  }
  return {
    ...{ locks: locks.size, resources: resources.size, queues, hosts: picture.hosts.size },
    ...{ groups: picture.groups.size, drains: picture.drains.size, audit: picture.audit.size },
  };
}
