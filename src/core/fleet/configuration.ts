import { pluralize } from "../base/text.ts";
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

/** A change of one group or resource. `before` or `after` is undefined if it does not exist. */
export type ConfigChange = GroupChange | ResourceChange;

export interface GroupChange {
  readonly kind: "group";
  readonly name: string;
  readonly before: readonly string[] | undefined;
  readonly after: readonly string[] | undefined;
  /** The source that owns the group afterwards; undefined if that stays as it is. */
  readonly source?: string | undefined;
}

export interface ResourceChange {
  readonly kind: "resource";
  readonly name: string;
  readonly before: ResourceConfig | undefined;
  readonly after: ResourceConfig | undefined;
}

/** Computes the changes from one configuration to another: groups first, sorted by name. */
export function computeConfigChanges(before: Configuration, after: Configuration): ConfigChange[] {
  return [
    ...pairByName(before.groups, after.groups).flatMap(([name, one, other]): GroupChange[] =>
      hasSameMembers(one, other) ? [] : [{ kind: "group", name, before: one, after: other }],
    ),
    ...pairByName(before.resources, after.resources).flatMap(([name, one, other]): ResourceChange[] =>
      isSameResource(one, other) ? [] : [{ kind: "resource", name, before: one, after: other }],
    ),
  ];
}

/** Applies changes to a configuration and returns the result. */
export function applyConfigChanges(base: Configuration, changes: readonly ConfigChange[]): Configuration {
  const groups = new Map(base.groups);
  const resources = new Map(base.resources);
  for (const { kind, name, after } of changes) {
    if (after === undefined) (kind === "group" ? groups : resources).delete(name);
    else if (kind === "group") groups.set(name, after as readonly string[]);
    else resources.set(name, after as ResourceConfig);
  }
  return { groups, resources };
}

function pairByName<T>(one: ReadonlyMap<string, T>, other: ReadonlyMap<string, T>) {
  const names = [...new Set([...one.keys(), ...other.keys()])].sort(compareByCodeUnit);
  return names.map((name) => [name, one.get(name), other.get(name)] as const);
}

export function hasSameMembers(one: GroupChange["before"], other: GroupChange["after"]): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((member, index) => member === other[index]);
}

const RESOURCE_FIELDS = ["total", "order", "note", "source"] as const;

export function isSameResource(one: ResourceChange["before"], other: ResourceChange["after"]): boolean {
  if (one === undefined || other === undefined) return one === other;
  return RESOURCE_FIELDS.every((field) => one[field] === other[field]);
}

/** Maximum number of members to list in one line. If there are more, only their number is shown. */
const MAX_LISTED_MEMBERS = 8;

/**
 * Formats a change in one line for people: `group web: + web3.example.com, - web1.example.com`. Texts are not cleaned.
 * @param groups  the groups after the change; a member that is one of them is marked as a group
 */
export function formatConfigChange(change: ConfigChange, groups: Configuration["groups"]): string {
  const head = `${change.kind} ${change.name}`;
  if (change.after === undefined) return `- ${head} (${describeState(change, "before", groups)})`;
  if (change.before === undefined) return `+ ${head}: ${describeState(change, "after", groups)}`;
  return `~ ${head}: ${change.kind === "group" ? formatMemberChanges(change, groups) : formatFieldChanges(change)}`;
}

function describeState(
  change: ConfigChange,
  when: "before" | "after",
  groups: Configuration["groups"],
): string {
  if (change.kind === "resource") return formatFields(change[when] ?? {}) || "no total of its own";
  const members = (change[when] ?? []).map((member) => markGroup(member, groups));
  return members.length === 0 ? "empty" : shortenList(members).join(", ");
}

function formatMemberChanges(
  { before = [], after = [], source }: Pick<GroupChange, "before" | "after" | "source">,
  groups: Configuration["groups"],
): string {
  const [old, now] = [new Set(before), new Set(after)];
  const added = after.filter((member) => !old.has(member)).map((member) => `+ ${markGroup(member, groups)}`);
  const removed = before
    .filter((member) => !now.has(member))
    .map((member) => `- ${markGroup(member, groups)}`);
  const owner = source === undefined ? [] : [`source ${source}`];
  return [...shortenList(added), ...shortenList(removed), ...owner].join(", ");
}

function markGroup(member: string, groups: Configuration["groups"]): string {
  return groups.has(member) ? `${member} (a group)` : member;
}

function shortenList(items: readonly string[]): string[] {
  return items.length > MAX_LISTED_MEMBERS
    ? [...items.slice(0, MAX_LISTED_MEMBERS), `${items.length - MAX_LISTED_MEMBERS} more`]
    : [...items];
}

function formatFields({ note, ...rest }: ResourceConfig): string {
  const fields = { ...rest, note: note === undefined ? undefined : JSON.stringify(note) };
  return Object.entries(fields)
    .flatMap(([field, value]) => (value === undefined ? [] : `${field} ${value}`))
    .join(", ");
}

function formatFieldChanges({ before = {}, after = {} }: Pick<ResourceChange, "before" | "after">): string {
  return RESOURCE_FIELDS.filter((field) => before[field] !== after[field])
    .map((field) => `${field} ${before[field] ?? "none"} -> ${after[field] ?? "none"}`)
    .join(", ");
}

/** Formats the number of changes: `2 groups and 1 resource set, 1 group deleted`. */
export function formatChangeCount(changes: readonly ConfigChange[]): string {
  const count = (kind: ConfigChange["kind"], isGone: boolean) =>
    changes.filter((change) => change.kind === kind && (change.after === undefined) === isGone).length;
  const clauses = ([false, true] as const).flatMap((isGone) => {
    const parts = (["group", "resource"] as const).flatMap((kind) => {
      const number = count(kind, isGone);
      return number === 0 ? [] : pluralize(number, kind);
    });
    return parts.length === 0 ? [] : `${parts.join(" and ")} ${isGone ? "deleted" : "set"}`;
  });
  return clauses.join(", ");
}
