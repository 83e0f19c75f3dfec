import type { QueueKind } from "../protocol/keys.ts";
import { byClaim, type Place } from "../protocol/ticket.ts";
import { type NamedQueue, queueId } from "./picture.ts";
import { Shelf } from "./shelf.ts";

interface At {
  kind: QueueKind;
  name: string;
}

/** Places sorted into their queues. A queue is put in order when it is asked for, however many places came and went. */
export class Queues {
  readonly #members = new Map<string, Map<string, Place>>();
  readonly #ordered = new Shelf<NamedQueue>();
  readonly #stale = new Map<string, At>();

  put(at: At, place: Place): void {
    const id = this.#touch(at);
    const members = this.#members.get(id) ?? new Map<string, Place>();
    this.#members.set(id, members.set(place.key, place));
  }

  delete(at: At, key: string): void {
    const id = this.#touch(at);
    const members = this.#members.get(id);
    members?.delete(key);
    if (members?.size === 0) this.#members.delete(id);
  }

  all(): ReadonlyMap<string, NamedQueue> {
    for (const [id, at] of this.#stale) {
      const members = this.#members.get(id);
      if (members === undefined) this.#ordered.delete(id);
      else this.#ordered.put(id, { ...at, places: [...members.values()].sort(byClaim) });
    }
    this.#stale.clear();
    return this.#ordered.all();
  }

  #touch(at: At): string {
    const id = queueId(at.kind, at.name);
    this.#stale.set(id, at);
    return id;
  }
}
