import { ConfigError } from "../base/errors.ts";
import { parseJson, parseObject } from "../base/parse-json.ts";
import { canonicalizeHost, findNameFault, findNearest, type ParseResult, quoteText } from "../base/text.ts";

/**
 * Groups by name, each a list of members. If a member is the name of an existing group, it means that group. Otherwise
 * it is a host, by the full name (FQDN) that the host reports. Short names do not match: `web1` would include the
 * `web1` of every domain.
 */
export type Groups = ReadonlyMap<string, readonly string[]>;

/**
 * Parses the value of a group: a JSON list of names, or one name, as in switchman. Also accepts an object with
 * `members`.
 * @returns undefined if the value is malformed; the group then has no members
 */
export function parseGroup(text: string): readonly string[] | undefined {
  const members = parseGroupMembers(text);
  return "value" in members ? members.value : undefined;
}

/** Parses the value of a group like `parseGroup`, but returns what is wrong if it is malformed. */
export function parseGroupMembers(text: string): ParseResult<readonly string[]> {
  const value = parseJson(text);
  const given = Array.isArray(value) || typeof value === "string" ? value : Object(value).members;
  const members: unknown = typeof given === "string" ? [given] : given;
  if (!Array.isArray(members)) return { fault: `${quoteText(text)} is not a JSON list of hosts and groups` };
  for (const member of members) {
    if (typeof member !== "string") return { fault: `${quoteText(JSON.stringify(member))} is not a name` };
    const fault = findNameFault(member);
    if (fault !== undefined) return { fault: `member ${quoteText(member)} cannot be used: ${fault}` };
  }
  return { value: members };
}

/** Returns the source that owns a group, from its value in etcd. */
export function parseGroupSource(text: string): string | undefined {
  const { source } = parseObject(text);
  return typeof source === "string" ? source : undefined;
}

/** Serializes a group for etcd: its members without duplicates, and the source that owns it. */
export function serializeGroup(given: readonly string[], source?: string): string {
  const members = [...new Set(given)];
  return JSON.stringify(source === undefined ? members : { members, source });
}

/**
 * Finds why a host is in a group: the shortest chain of groups, from the given group to the group that lists the host.
 * The chain is sufficient proof: the host stays a member as long as none of these groups changes and no group with the
 * host's name is created.
 * @returns undefined if the host is not in the group
 * @throws ConfigError if the group does not exist
 */
export function findMembership(groups: Groups, group: string, host: string): readonly string[] | undefined {
  if (!groups.has(group)) throw createUnknownGroupError(groups, group);
  const wanted = canonicalizeHost(host);
  const parents = new Map<string, string | undefined>([[group, undefined]]);
  // Iterating a map also visits entries added during the iteration, so this is a breadth-first search.
  for (const [name] of parents) {
    for (const member of groups.get(name) ?? []) {
      if (!groups.has(member)) {
        if (canonicalizeHost(member) === wanted) return buildChain(parents, name);
      } else if (!parents.has(member)) {
        parents.set(member, name);
      }
    }
  }
  return undefined;
}

function buildChain(parents: ReadonlyMap<string, string | undefined>, last: string): string[] {
  const path: string[] = [];
  for (let name: string | undefined = last; name !== undefined; name = parents.get(name)) path.push(name);
  return path.reverse();
}

/** Lists all groups that contain a host, directly or through other groups, nearest to the host first. */
export function listHostGroups(groups: Groups, host: string): readonly string[] {
  return createHostGroupLookup(groups)(host);
}

/** Returns `listHostGroups` for many hosts: the members of the groups are indexed once. */
export function createHostGroupLookup(groups: Groups): (host: string) => readonly string[] {
  const [ofGroups, ofHosts] = [new Map<string, string[]>(), new Map<string, string[]>()];
  for (const [name, members] of groups) {
    for (const member of members) {
      if (groups.has(member)) append(ofGroups, member, name);
      else append(ofHosts, canonicalizeHost(member), name);
    }
  }
  return (host) => {
    const found = new Set(ofHosts.get(canonicalizeHost(host)));
    for (const name of found) {
      for (const parent of ofGroups.get(name) ?? []) found.add(parent);
    }
    return [...found];
  };
}

function append(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/**
 * Lists all hosts in a group, directly or through other groups, as spelled in the groups.
 * @throws ConfigError if the group does not exist
 */
export function listGroupHosts(groups: Groups, group: string): readonly string[] {
  if (!groups.has(group)) throw createUnknownGroupError(groups, group);
  const seen = new Set([group]);
  const hosts = new Map<string, string>();
  for (const name of seen) {
    for (const member of groups.get(name) ?? []) {
      if (groups.has(member)) seen.add(member);
      else if (!hosts.has(canonicalizeHost(member))) hosts.set(canonicalizeHost(member), member);
    }
  }
  return [...hosts.values()];
}

/** Builds the error for an unknown group. @param groups  the existing groups */
export function createUnknownGroupError(groups: ReadonlyMap<string, unknown>, group: string): ConfigError {
  const meant = findNearest(group, groups.keys());
  const hint = meant === undefined ? "see: signalbox ls groups" : `did you mean ${quoteText(meant)}?`;
  return new ConfigError(`there is no group ${quoteText(group)}; ${hint}`);
}

/** Maximum number of cycles to report. */
const MAX_CYCLES = 5;

/**
 * Lists properties of groups that may be unintended, one sentence each. None of them is an error: a group may be empty,
 * may contain itself through other groups, and a member that is not a group may be a host that was never seen.
 */
export function listGroupNotes(groups: Groups): string[] {
  return [
    ...noteEmptyGroups(groups),
    ...noteShadowedHosts(groups),
    ...findGroupCycles(groups).map(formatCycleNote),
  ];
}

function noteEmptyGroups(groups: Groups): string[] {
  const empty = [...groups].filter(([, members]) => members.length === 0);
  return empty.map(([name]) => `group ${quoteText(name)} is empty: no run that is limited to it can start`);
}

/** Reports groups named like a full host name: the group takes precedence. */
function noteShadowedHosts(groups: Groups): string[] {
  const dotted = [...groups.keys()].filter((name) => name.includes("."));
  return dotted.map(
    (name) => `group ${quoteText(name)} is named like a host: a member ${quoteText(name)} means the group`,
  );
}

function formatCycleNote(cycle: readonly string[]): string {
  const path = cycle.map((name) => quoteText(name)).join(" > ");
  return `groups contain each other in a circle (${path}): all of them have the same hosts`;
}

/**
 * Finds group cycles, at most `MAX_CYCLES`. Each result begins and ends with the same group. The depth-first search
 * uses its own stack, because groups can be nested to any depth.
 */
export function findGroupCycles(groups: Groups): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  for (const start of groups.keys()) {
    if (!done.has(start)) descend(groups, start, done, found);
  }
  return found;
}

function descend(groups: Groups, start: string, done: Set<string>, found: string[][]): void {
  const path: { name: string; rest: Iterator<string> }[] = [];
  const indexes = new Map<string, number>(); // in `path`
  const enter = (name: string) => {
    indexes.set(name, path.push({ name, rest: (groups.get(name) ?? [])[Symbol.iterator]() }) - 1);
  };
  enter(start);
  for (let top = path.at(-1); top !== undefined && found.length < MAX_CYCLES; top = path.at(-1)) {
    const step = top.rest.next();
    if (step.done === true) {
      path.pop();
      indexes.delete(top.name);
      done.add(top.name);
      continue;
    }
    const from = indexes.get(step.value);
    if (from !== undefined) found.push([...path.slice(from).map(({ name }) => name), step.value]);
    else if (groups.has(step.value) && !done.has(step.value)) enter(step.value);
  }
}
