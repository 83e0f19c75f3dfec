import type { WallTime } from "../../core/base/clock.ts";
import { findMembership, listHostGroups } from "../../core/fleet/groups.ts";
import { hasEnded, isDrainApplicable } from "../../core/protocol/drain.ts";
import { type Definition, getScheduleType } from "../../schedule/definition.ts";
import { canHandle } from "../../schedule/handler-types.ts";
import { listWorkersBefore } from "../../schedule/hash.ts";
import { findSerialQueue } from "../../schedule/serial-queue.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";
import type { ScheduleCache } from "../cache/schedule-cache.ts";

/**
 * Determines which workers may claim a schedule, from groups, drains and handler types. Caches the results until
 * `forget`.
 */
export class WorkerEligibility {
  readonly #cache: ScheduleCache;
  readonly #host: string;
  readonly #worker: string;
  readonly #peers = new Map<string, readonly string[]>();
  readonly #members = new Map<string, boolean>();
  readonly #groups = new Map<string, readonly string[]>();
  /** The lists of workers that come before this one, each once: schedules share them. */
  readonly #before = new Map<string, readonly string[]>();
  /** Number of times that the results were cleared, from 1: see `beforeAt`. */
  #round = 1;

  /** @param worker  id of this worker */
  constructor(cache: ScheduleCache, host: string, worker: string) {
    this.#cache = cache;
    this.#host = host;
    this.#worker = worker;
  }

  /** Clears the cached results. Call it when workers, groups or drains change. */
  forget(): void {
    this.#peers.clear();
    this.#members.clear();
    this.#groups.clear();
    this.#before.clear();
    this.#round += 1;
  }

  /** Returns why a host must not claim anything; undefined if it may. */
  findDrainReason(wall: WallTime, host = this.#host): string | undefined {
    const { drains, groups } = this.#cache;
    if (drains.size === 0) return undefined;
    const own = this.#groups.get(host) ?? listHostGroups(groups, host);
    this.#groups.set(host, own);
    const reach = { locks: [], resources: [], host, groups: own };
    const stops = [...drains.values()].find(
      (drain) => !hasEnded(drain, wall) && isDrainApplicable(drain, reach),
    );
    return (
      stops && (stops.scope === "all" ? "everything is drained" : `${stops.scope} ${stops.name} is drained`)
    );
  }

  /** Returns whether the host is in the group of the schedule, or the schedule has no group. */
  isFor({ group }: Definition, host = this.#host): boolean {
    if (group === undefined) return true;
    const id = `${host} ${group}`;
    let isMember = this.#members.get(id);
    if (isMember === undefined) {
      const { groups } = this.#cache;
      isMember = groups.has(group) && findMembership(groups, group, host) !== undefined;
      this.#members.set(id, isMember);
    }
    return isMember;
  }

  /**
   * Lists the workers that can run a schedule and come before this one for it. Those of a serial queue have one order: else several
   * workers would claim what can only run one after the other.
   */
  listWorkersBefore(entry: CachedSchedule, wall: WallTime): readonly string[] {
    if (entry.beforeAt !== this.#round) {
      entry.before = this.#computeWorkersBefore(entry, wall);
      entry.beforeAt = this.#round;
    }
    return entry.before;
  }

  #computeWorkersBefore({ id, host, definition }: CachedSchedule, wall: WallTime): readonly string[] {
    if (definition === undefined) return [];
    const capable = this.#findCapableWorkers(id, definition, wall);
    const isThere = (one: string) => host === undefined || this.#cache.workers.get(one)?.host === host;
    const before = listWorkersBefore(this.#worker, capable, findSerialQueue(definition) ?? id).filter(
      isThere,
    );
    const name = before.join();
    const known = this.#before.get(name) ?? before;
    this.#before.set(name, known);
    return known;
  }

  /** Returns whether no worker comes before this one for a schedule. */
  isFirst(entry: CachedSchedule, wall: WallTime): boolean {
    return this.listWorkersBefore(entry, wall).length === 0;
  }

  /** Returns whether other workers can run a schedule. */
  hasRivals({ id, definition }: CachedSchedule, wall: WallTime): boolean {
    const capable = definition === undefined ? [] : this.#findCapableWorkers(id, definition, wall);
    return capable.some((one) => one !== this.#worker);
  }

  /**
   * Returns the workers that can run a schedule. A drain that expires does not clear the cache: until the next change,
   * other workers rank before those of its hosts, and claims may come a second later.
   */
  #findCapableWorkers(id: string, definition: Definition, wall: WallTime): readonly string[] {
    const kind = `${definition.command === undefined ? getScheduleType(id, definition) : "\0"}\0${definition.group ?? ""}`;
    let capable = this.#peers.get(kind);
    if (capable === undefined) {
      capable = [...this.#cache.workers]
        .filter(([, { types, host, clock, isJoining, isLeaving }]) => {
          if (isJoining || isLeaving || clock === "refuses" || this.findDrainReason(wall, host) !== undefined)
            return false;
          return canHandle(types, id, definition) && this.isFor(definition, host);
        })
        .map(([worker]) => worker);
      this.#peers.set(kind, capable);
    }
    return capable;
  }
}
