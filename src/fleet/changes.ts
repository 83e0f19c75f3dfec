import { byCode, type Configuration } from "./configuration.ts";
import type { ResourceConfig } from "./resources.ts";

/** One thing of a configuration that becomes another. Undefined: it is not there. */
export type ConfigChange = GroupChange | ResourceChange;

export interface GroupChange {
  readonly kind: "group";
  readonly name: string;
  readonly before: readonly string[] | undefined;
  readonly after: readonly string[] | undefined;
}

export interface ResourceChange {
  readonly kind: "resource";
  readonly name: string;
  readonly before: ResourceConfig | undefined;
  readonly after: ResourceConfig | undefined;
}

/** What turns one configuration into another: groups first, by name. */
export function changesBetween(before: Configuration, after: Configuration): ConfigChange[] {
  return [
    ...pairs(before.groups, after.groups).flatMap(([name, one, other]): GroupChange[] =>
      sameMembers(one, other) ? [] : [{ kind: "group", name, before: one, after: other }],
    ),
    ...pairs(before.resources, after.resources).flatMap(([name, one, other]): ResourceChange[] =>
      sameResource(one, other) ? [] : [{ kind: "resource", name, before: one, after: other }],
    ),
  ];
}

/** The configuration that changes make of another. */
export function withChanges(base: Configuration, changes: readonly ConfigChange[]): Configuration {
  const groups = new Map(base.groups);
  const resources = new Map(base.resources);
  for (const { kind, name, after } of changes) {
    if (after === undefined) (kind === "group" ? groups : resources).delete(name);
    else if (kind === "group") groups.set(name, after as readonly string[]);
    else resources.set(name, after as ResourceConfig);
  }
  return { groups, resources };
}

function pairs<T>(one: ReadonlyMap<string, T>, other: ReadonlyMap<string, T>) {
  const names = [...new Set([...one.keys(), ...other.keys()])].sort(byCode);
  return names.map((name) => [name, one.get(name), other.get(name)] as const);
}

function sameMembers(one: GroupChange["before"], other: GroupChange["after"]): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((member, index) => member === other[index]);
}

function sameResource(one: ResourceChange["before"], other: ResourceChange["after"]): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.total === other.total && one.order === other.order && one.note === other.note;
}

/** Members that are spelled out in one line; of more, only how many they are. */
const MANY = 8;

/**
 * A change in a line for people: `group web: + web3.example.com, - web1.example.com`. Texts are not cleaned.
 * @param groups  of the configuration after it: a member that is one of them is marked as a group
 */
export function changeLine(change: ConfigChange, groups: Configuration["groups"]): string {
  const head = `${change.kind} ${change.name}`;
  if (change.after === undefined) return `- ${head} (${described(change, "before", groups)})`;
  if (change.before === undefined) return `+ ${head}: ${described(change, "after", groups)}`;
  return `~ ${head}: ${change.kind === "group" ? membersChanged(change, groups) : fieldsChanged(change)}`;
}

function described(change: ConfigChange, when: "before" | "after", groups: Configuration["groups"]): string {
  if (change.kind === "resource") return fieldsOf(change[when] ?? {}) || "no total of its own";
  const members = (change[when] ?? []).map((member) => marked(member, groups));
  return members.length === 0 ? "empty" : shortened(members).join(", ");
}

function membersChanged(
  { before = [], after = [] }: Pick<GroupChange, "before" | "after">,
  groups: Configuration["groups"],
): string {
  const [old, now] = [new Set(before), new Set(after)];
  const added = after.filter((member) => !old.has(member)).map((member) => `+ ${marked(member, groups)}`);
  const removed = before.filter((member) => !now.has(member)).map((member) => `- ${marked(member, groups)}`);
  return [...shortened(added), ...shortened(removed)].join(", ");
}

function marked(member: string, groups: Configuration["groups"]): string {
  return groups.has(member) ? `${member} (a group)` : member;
}

function shortened(items: readonly string[]): string[] {
  return items.length > MANY ? [...items.slice(0, MANY), `${items.length - MANY} more`] : [...items];
}

function fieldsOf({ total, order, note }: ResourceConfig): string {
  const fields = { total, order, note: note === undefined ? undefined : JSON.stringify(note) };
  return Object.entries(fields)
    .flatMap(([field, value]) => (value === undefined ? [] : `${field} ${value}`))
    .join(", ");
}

function fieldsChanged({ before = {}, after = {} }: Pick<ResourceChange, "before" | "after">): string {
  const fields = ["total", "order", "note"] as const;
  return fields
    .filter((field) => before[field] !== after[field])
    .map((field) => `${field} ${before[field] ?? "none"} -> ${after[field] ?? "none"}`)
    .join(", ");
}

/** Changes by number: `2 groups and 1 resource set, 1 group deleted`. */
export function changeCount(changes: readonly ConfigChange[]): string {
  const count = (kind: ConfigChange["kind"], isGone: boolean) =>
    changes.filter((one) => one.kind === kind && (one.after === undefined) === isGone).length;
  const told = ([false, true] as const).flatMap((isGone) => {
    const parts = (["group", "resource"] as const).flatMap((kind) => {
      const number = count(kind, isGone);
      return number === 0 ? [] : `${number} ${kind}${number === 1 ? "" : "s"}`;
    });
    return parts.length === 0 ? [] : `${parts.join(" and ")} ${isGone ? "deleted" : "set"}`;
  });
  return told.join(", ");
}
