import { groupsOf, membership } from "../../fleet/groups.ts";
import { applies, hasEnded } from "../../protocol/drain.ts";
import { type Definition, typeOf } from "../../schedule/definition.ts";
import { rankOf } from "../../schedule/hash.ts";
import { handles } from "../../schedule/types.ts";
import type { Book } from "./book.ts";
import type { Entry } from "./entry.ts";

/** Who may take what: by groups, drains, and the types that workers have handlers for. Remembers until told to forget. */
export class Eligibility {
  readonly #book: Book;
  readonly #host: string;
  readonly #peers = new Map<string, readonly string[]>();
  readonly #members = new Map<string, boolean>();
  readonly #groups = new Map<string, readonly string[]>();

  constructor(book: Book, host: string) {
    this.#book = book;
    this.#host = host;
  }

  /** Workers, groups or drains have changed. */
  forget(): void {
    this.#peers.clear();
    this.#members.clear();
    this.#groups.clear();
  }

  /** Why a host takes nothing at all now; undefined where it does. @param wall  ms since the epoch */
  drained(wall: number, host = this.#host): string | undefined {
    const { drains, groups } = this.#book;
    if (drains.size === 0) return undefined;
    const own = this.#groups.get(host) ?? groupsOf(groups, host);
    this.#groups.set(host, own);
    const reach = { resources: [], host, groups: own };
    const stops = [...drains.values()].find((drain) => !hasEnded(drain, wall) && applies(drain, reach));
    return (
      stops && (stops.scope === "all" ? "everything is drained" : `${stops.scope} ${stops.name} is drained`)
    );
  }

  /** Whether a schedule is for this host. */
  isFor({ group }: Definition, host = this.#host): boolean {
    if (group === undefined) return true;
    const id = `${host} ${group}`;
    let isMember = this.#members.get(id);
    if (isMember === undefined) {
      const { groups } = this.#book;
      isMember = groups.has(group) && membership(groups, group, host) !== undefined;
      this.#members.set(id, isMember);
    }
    return isMember;
  }

  /** This worker's place among those who can run a schedule, from 0. */
  rank(worker: string, { id, definition }: Entry, wall: number): number {
    return definition === undefined ? 0 : rankOf(worker, this.#capable(id, definition, wall), id);
  }

  /** An end of a drain by itself is noticed when anything else changes: until then others are first, a second later. */
  #capable(id: string, definition: Definition, wall: number): readonly string[] {
    const kind = `${definition.command === undefined ? typeOf(id, definition) : "\0"}\0${definition.group ?? ""}`;
    let capable = this.#peers.get(kind);
    if (capable === undefined) {
      capable = [...this.#book.workers]
        .filter(([, { types, host, clock, isLeaving }]) => {
          if (isLeaving || clock === "refuses" || this.drained(wall, host) !== undefined) return false;
          return handles(types, id, definition) && this.isFor(definition, host);
        })
        .map(([worker]) => worker);
      this.#peers.set(kind, capable);
    }
    return capable;
  }
}
