import type { ResourceConfig } from "./resources.ts";

/** All that operators have configured, by name, in normal form. */
export interface Configuration {
  /** Members by group, each once, sorted: their order means nothing. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly resources: ReadonlyMap<string, ResourceConfig>;
}

export const NOTHING_CONFIGURED: Configuration = { groups: new Map(), resources: new Map() };

/** The normal form of a group's members. */
export function normalMembers(members: Iterable<string>): readonly string[] {
  return [...new Set(members)].sort(byCode);
}

/** The normal form of a resource's configuration: fields in one order, an empty note is none. */
export function normalResource({ total, order, note }: ResourceConfig): ResourceConfig {
  return {
    ...(total !== undefined && { total: total.trim() }),
    ...(order !== undefined && { order }),
    ...(note !== undefined && note !== "" && { note }),
  };
}

/** The order of names in everything that is written down: by code unit, the same on every machine. */
export function byCode(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The order of resources in listings: by `order`, then by name; those without an order come last. */
export function byOrder(
  [a, first]: readonly [string, ResourceConfig],
  [b, second]: readonly [string, ResourceConfig],
): number {
  const [before, behind] = [first.order ?? Number.MAX_SAFE_INTEGER, second.order ?? Number.MAX_SAFE_INTEGER];
  return before - behind || byCode(a, b);
}
