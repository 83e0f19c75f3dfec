import type { ResourceConfig } from "./resources.ts";

/** Everything that operators have configured, by name, in normal form. */
export interface Configuration {
  /** Members by group, without duplicates and sorted, because their order has no meaning. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly resources: ReadonlyMap<string, ResourceConfig>;
}

/** The kinds of objects in the document of a site. */
export const SITE_KINDS = ["groups", "resources", "calendars", "schedules"] as const;
export type SiteKind = (typeof SITE_KINDS)[number];

/** Normalizes the members of a group: removes duplicates and sorts. */
export function normalizeMembers(members: Iterable<string>): readonly string[] {
  return [...new Set(members)].sort(compareByCodeUnit);
}

/** Normalizes the configuration of a resource: fixed order of fields, no empty note. */
export function normalizeResource({ total, order, note, source }: ResourceConfig): ResourceConfig {
  return {
    ...(total !== undefined && { total: total.trim() }),
    ...(order !== undefined && { order }),
    ...(note !== undefined && note !== "" && { note }),
    ...(source !== undefined && { source }),
  };
}

/** Compares names by code unit, for all written output. The result is the same on every machine. */
export function compareByCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares resources for listings: by `order`, then by name. Resources without an order come last. */
export function compareByResourceOrder(
  [a, first]: readonly [string, ResourceConfig],
  [b, second]: readonly [string, ResourceConfig],
): number {
  const [before, behind] = [first.order ?? Number.MAX_SAFE_INTEGER, second.order ?? Number.MAX_SAFE_INTEGER];
  return before - behind || compareByCodeUnit(a, b);
}
