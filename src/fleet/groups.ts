import { ConfigError } from "../base/errors.ts";
import { nameFault, nearest, type Parsed, quoted } from "../base/text.ts";

/**
 * Groups by name, each a list of members. A member that is the name of an existing group is that group; any other is
 * a host, by the same full name (FQDN) that the host gives itself. Short names do not count: `web1` would let in a
 * `web1` of every domain.
 */
export type Groups = ReadonlyMap<string, readonly string[]>;

/**
 * The members in a group's value: a JSON list of names, or one name, as in switchman. An object with `members` does too.
 * @returns undefined when it is malformed; nobody is a member then
 */
export function parseGroup(text: string): readonly string[] | undefined {
  const members = checkedMembers(text);
  return "value" in members ? members.value : undefined;
}

/** As `parseGroup`, saying what is wrong. */
export function checkedMembers(text: string): Parsed<readonly string[]> {
  const value = json(text);
  const held = Array.isArray(value) || typeof value === "string" ? value : Object(value).members;
  const members: unknown = typeof held === "string" ? [held] : held;
  if (!Array.isArray(members)) return { fault: `${quoted(text)} is not a JSON list of hosts and groups` };
  for (const member of members) {
    if (typeof member !== "string") return { fault: `${quoted(JSON.stringify(member))} is not a name` };
    const fault = nameFault(member);
    if (fault !== undefined) return { fault: `member ${quoted(member)} cannot be used: ${fault}` };
  }
  return { value: members };
}

/** The value to keep in etcd for a group, each member once. */
export function groupText(members: readonly string[]): string {
  return JSON.stringify([...new Set(members)]);
}

/** A host's name as it is compared: names of the DNS know no case, and a last dot says nothing. */
export function canonicalHost(host: string): string {
  return host.toLowerCase().replace(/(?<=.)\.$/, "");
}

/**
 * Why a host is in a group: the shortest chain of groups, from the one asked for down to the one that lists the host.
 * The chain is the whole proof: as long as none of its groups changes, and no group of the host's name appears, the
 * host stays a member.
 * @returns undefined when the host is not in the group
 * @throws ConfigError when there is no such group
 */
export function membership(groups: Groups, group: string, host: string): readonly string[] | undefined {
  if (!groups.has(group)) throw unknownGroup(groups, group);
  const wanted = canonicalHost(host);
  const parents = new Map<string, string | undefined>([[group, undefined]]);
  // A map gives out what is added while it is walked, so this is a search in breadth.
  for (const [name] of parents) {
    for (const member of groups.get(name) ?? []) {
      if (!groups.has(member)) {
        if (canonicalHost(member) === wanted) return chain(parents, name);
      } else if (!parents.has(member)) {
        parents.set(member, name);
      }
    }
  }
  return undefined;
}

function chain(parents: ReadonlyMap<string, string | undefined>, last: string): string[] {
  const path: string[] = [];
  for (let name: string | undefined = last; name !== undefined; name = parents.get(name)) path.push(name);
  return path.reverse();
}

/** Every group that a host is in, directly or through others; those nearest to the host first. */
export function groupsOf(groups: Groups, host: string): readonly string[] {
  const wanted = canonicalHost(host);
  const listing = new Map<string, string[]>();
  const found = new Set<string>();
  for (const [name, members] of groups) {
    for (const member of members) {
      if (groups.has(member)) append(listing, member, name);
      else if (canonicalHost(member) === wanted) found.add(name);
    }
  }
  for (const name of found) {
    for (const parent of listing.get(name) ?? []) found.add(parent);
  }
  return [...found];
}

function append(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Every host in a group, directly or through others, as the groups write them. @throws ConfigError as `membership` */
export function hostsOf(groups: Groups, group: string): readonly string[] {
  if (!groups.has(group)) throw unknownGroup(groups, group);
  const seen = new Set([group]);
  const hosts = new Map<string, string>();
  for (const name of seen) {
    for (const member of groups.get(name) ?? []) {
      if (groups.has(member)) seen.add(member);
      else if (!hosts.has(canonicalHost(member))) hosts.set(canonicalHost(member), member);
    }
  }
  return [...hosts.values()];
}

/** The error of naming a group that is not there. @param groups  those that are */
export function unknownGroup(groups: ReadonlyMap<string, unknown>, group: string): ConfigError {
  const meant = nearest(group, groups.keys());
  const hint = meant === undefined ? "see: signalbox group list" : `did you mean ${quoted(meant)}?`;
  return new ConfigError(`there is no group ${quoted(group)}; ${hint}`);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
