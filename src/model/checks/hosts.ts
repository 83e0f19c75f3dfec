import { briefDuration, formatDuration } from "../../base/duration.ts";
import type { Finding } from "../../base/finding.ts";
import { quoted } from "../../base/text.ts";
import { groupNotes } from "../../fleet/group-notes.ts";
import { canonicalHost, groupsOf, hostsOf, unknownGroup } from "../../fleet/groups.ts";
import { applies, hasEnded } from "../../protocol/drain.ts";
import { seenAgo, seenWithin } from "../alive.ts";
import { membersOf, type Picture } from "../picture.ts";

/** What is known of hosts and groups. */
export interface HostsSight {
  picture: Pick<Picture, "groups" | "hosts" | "drains">;
  /** Canonical names of hosts with a run whose session is alive, however long ago they were seen. */
  running: ReadonlySet<string>;
  /** A host must have been seen within this time, ms. */
  within: number;
  /** Wall clock, ms since the epoch. */
  wall: number;
}

/** Hosts that are named in one finding; of more, only how many they are. */
const MANY = 5;

/** Whether each group has a host that is there. @param wanted  groups to look at; all where none is named */
export function judgeHosts(sight: HostsSight, wanted: readonly string[]): Finding[] {
  const { picture } = sight;
  const groups = membersOf(picture);
  const names = wanted.length > 0 ? wanted : [...groups.keys()].sort();
  if (names.length === 0)
    return [{ kind: "group", check: "groups", level: "ok", detail: "none is configured" }];
  const notes = wanted.length > 0 ? [] : groupNotes(groups).filter((note) => !/ is empty/.test(note));
  return [
    ...names.flatMap((name) => judgeGroup(name, sight)),
    ...notes.map((detail): Finding => ({ kind: "group", check: "groups", level: "hint", detail })),
  ];
}

/** Hosts of these groups that were not seen in time, so that their runs should be looked for. */
export function staleHosts(sight: Omit<HostsSight, "running">, wanted: readonly string[]): Set<string> {
  const groups = membersOf(sight.picture);
  const names = (wanted.length > 0 ? wanted : [...groups.keys()]).filter((name) => groups.has(name));
  const hosts = names.flatMap((name) => hostsOf(groups, name)).map(canonicalHost);
  return new Set(hosts.filter((host) => !isThere(host, { ...sight, running: new Set() })));
}

function isThere(host: string, { picture, running, within, wall }: HostsSight): boolean {
  return running.has(host) || seenWithin(picture.hosts.get(host), within, wall);
}

function judgeGroup(name: string, sight: HostsSight): Finding[] {
  const { picture, within } = sight;
  const groups = membersOf(picture);
  const about = { kind: "group", check: `group ${name}` };
  const failed = (detail: string, remedy: string): Finding => ({
    ...about,
    level: "failure",
    detail,
    remedy,
  });
  if (!groups.has(name))
    return [failed(unknownGroup(groups, name).message, `signalbox group set ${name} HOST…`)];
  const fault = picture.groups.get(name)?.fault;
  if (fault !== undefined)
    return [failed(`it cannot be read: ${fault}`, `signalbox group set ${name} HOST…`)];
  const hosts = hostsOf(groups, name).map(canonicalHost);
  if (hosts.length === 0)
    return [failed("it has no hosts: nothing can run in it", `signalbox group add ${name} HOST`)];
  const there = hosts.filter((host) => isThere(host, sight));
  if (there.length === 0) {
    const detail = `none of its ${counted(hosts)} was seen within ${formatDuration(within)}: ${listed(hosts.map((host) => lastSeen(host, sight)))}`;
    return [failed(detail, "are the hosts up, and is cron running there?"), ...unseen(name, hosts, sight)];
  }
  const free = there.filter((host) => !isDrained(host, sight));
  const detail = `${there.length} of ${counted(hosts)} ${there.length === 1 ? "is" : "are"} there`;
  const main: Finding =
    free.length > 0
      ? { ...about, level: "ok", detail }
      : {
          ...{ ...about, level: "warning", detail: `${detail}, and all of them are drained: nothing starts` },
          remedy: "signalbox ls drains",
        };
  return [main, ...away(name, hosts, sight), ...unseen(name, hosts, sight)];
}

/** Hosts that were seen once, but not lately; a drained one may well be away. */
function away(group: string, hosts: readonly string[], sight: HostsSight): Finding[] {
  const gone = hosts.filter(
    (host) => !isThere(host, sight) && agoOf(host, sight) !== undefined && !isDrained(host, sight),
  );
  if (gone.length === 0) return [];
  return [
    {
      ...{ kind: "host", check: `group ${group}`, level: "warning" },
      detail: `not seen within ${formatDuration(sight.within)}: ${listed(gone.map((host) => lastSeen(host, sight)))}`,
      remedy: "is cron running there? If they run jobs more rarely: --within",
    },
  ];
}

/** Members that are no group, and no host that was ever seen. */
function unseen(group: string, hosts: readonly string[], sight: HostsSight): Finding[] {
  const strangers = hosts.filter((host) => agoOf(host, sight) === undefined && !sight.running.has(host));
  if (strangers.length === 0) return [];
  return [
    {
      ...{ kind: "host", check: `group ${group}`, level: "warning" },
      detail: `no host of this name was ever seen, nor is it a group: ${listed(strangers.map((host) => withHint(host, sight)))}`,
      remedy:
        "a host is seen when it runs signalbox run; a member is a full name (FQDN), as the host gives it itself",
    },
  ];
}

function withHint(host: string, { picture }: HostsSight): string {
  const full = [...picture.hosts.keys()].find((known) => known.startsWith(`${host}.`));
  return full === undefined ? host : `${host} (did you mean ${quoted(full)}?)`;
}

function agoOf(host: string, { picture, wall }: HostsSight): number | undefined {
  return seenAgo(picture.hosts.get(host), wall);
}

function lastSeen(host: string, sight: HostsSight): string {
  const ago = agoOf(host, sight);
  return ago === undefined ? `${host} (never)` : `${host} (${briefDuration(ago)} ago)`;
}

function isDrained(host: string, { picture, wall }: HostsSight): boolean {
  const reach = { resources: [], host, groups: groupsOf(membersOf(picture), host) };
  return [...picture.drains.values()].some((drain) => !hasEnded(drain, wall) && applies(drain, reach));
}

function counted(hosts: readonly string[]): string {
  return hosts.length === 1 ? "1 host" : `${hosts.length} hosts`;
}

function listed(items: readonly string[]): string {
  const more = items.length > MANY ? [`${items.length - MANY} more`] : [];
  return [...items.slice(0, MANY), ...more].join(", ");
}
