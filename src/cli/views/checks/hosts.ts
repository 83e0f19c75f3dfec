import { formatBriefDuration, formatDuration, type WallTime } from "../../../core/base/clock.ts";
import { createFindingBuilder, type Finding } from "../../../core/base/finding.ts";
import { canonicalizeHost, pluralize, quoteText } from "../../../core/base/text.ts";
import { createUnknownGroupError, listGroupHosts, listGroupNotes } from "../../../core/fleet/groups.ts";
import { hasEnded, isDrainApplicable } from "../../../core/protocol/drain.ts";
import { computeSeenAgo, isSeenWithin } from "../../../site/state/liveness.ts";
import { buildGroupMembers, type Snapshot } from "../../../site/state/snapshot.ts";
import { buildHostReach } from "../../../site/state/view-context.ts";

interface HostCheckInputs {
  snapshot: Pick<Snapshot, "groups" | "hosts" | "drains">;
  /** Canonical names of hosts with a worker, or a run whose session is alive, even if their record is old. */
  running: ReadonlySet<string>;
  /** A host must have been seen within this time, ms. */
  within: number;
  /** Wall clock, ms since the epoch. */
  wall: WallTime;
}

/** The same, and what is computed once for all groups. */
interface GroupCheckInputs extends HostCheckInputs {
  /** Members by group. */
  groups: ReadonlyMap<string, readonly string[]>;
  isDrained(host: string): boolean;
}

/** Checks that each group has a live host. @param wanted  groups to check; empty for all */
export function judgeHosts(inputs: HostCheckInputs, wanted: readonly string[]): Finding[] {
  const { snapshot } = inputs;
  const groups = buildGroupMembers(snapshot);
  const names = wanted.length > 0 ? wanted : [...groups.keys()].sort();
  if (names.length === 0) return [createFindingBuilder("group", "groups").ok("none configured")];
  const notes = wanted.length > 0 ? [] : listGroupNotes(groups).filter((note) => !/ is empty/.test(note));
  const whole = { ...inputs, groups, isDrained: createDrainCheck(inputs, groups) };
  return [
    ...names.flatMap((name) => judgeGroup(name, whole)),
    ...notes.map((detail): Finding => createFindingBuilder("group", "groups").hint(detail)),
  ];
}

/** Finds hosts of these groups that were not seen in time: the caller checks whether they have live runs. */
export function findStaleHosts(
  inputs: Omit<HostCheckInputs, "running">,
  wanted: readonly string[],
): Set<string> {
  const groups = buildGroupMembers(inputs.snapshot);
  const names = (wanted.length > 0 ? wanted : [...groups.keys()]).filter((name) => groups.has(name));
  const hosts = names.flatMap((name) => listGroupHosts(groups, name)).map(canonicalizeHost);
  return new Set(hosts.filter((host) => !isThere(host, { ...inputs, running: new Set() })));
}

function isThere(host: string, { snapshot, running, within, wall }: HostCheckInputs): boolean {
  return running.has(host) || isSeenWithin(snapshot.hosts.get(host), within, wall);
}

function judgeGroup(name: string, inputs: GroupCheckInputs): Finding[] {
  const { snapshot, groups, within } = inputs;
  const about = createFindingBuilder("group", `group ${name}`);
  if (!groups.has(name))
    return [
      about.failure(createUnknownGroupError(groups, name).message, `signalbox group set ${name} HOST…`),
    ];
  const fault = snapshot.groups.get(name)?.fault;
  if (fault !== undefined)
    return [about.failure(`it cannot be read: ${fault}`, `signalbox group set ${name} HOST…`)];
  const hosts = listGroupHosts(groups, name).map(canonicalizeHost);
  if (hosts.length === 0)
    return [about.failure("it has no hosts: nothing can run in it", `signalbox group add ${name} HOST`)];
  const there = hosts.filter((host) => isThere(host, inputs));
  if (there.length === 0) {
    const detail = `none of its ${pluralize(hosts.length, "host")} was seen within ${formatDuration(within)}: ${formatHostNames(hosts.map((host) => formatLastSeen(host, inputs)))}`;
    return [
      about.failure(detail, "are the hosts up, and is cron or a worker running there?"),
      ...findUnseenMembers(name, hosts, inputs),
    ];
  }
  const free = there.filter((host) => !inputs.isDrained(host));
  const detail = `${there.length} of ${pluralize(hosts.length, "host")} ${there.length === 1 ? "is" : "are"} active`;
  const main: Finding =
    free.length > 0
      ? about.ok(detail)
      : about.warning(`${detail}, and all of them are drained: nothing starts`, "signalbox ls drains");
  return [main, ...findAwayHosts(name, hosts, inputs), ...findUnseenMembers(name, hosts, inputs)];
}

/** Finds hosts that were seen before, but not lately. Skips drained hosts, because they may be down on purpose. */
function findAwayHosts(group: string, hosts: readonly string[], inputs: GroupCheckInputs): Finding[] {
  const isKnown = (host: string) => computeHostSeenAgo(host, inputs) !== undefined;
  const gone = hosts.filter((host) => !isThere(host, inputs) && isKnown(host) && !inputs.isDrained(host));
  if (gone.length === 0) return [];
  return [
    createFindingBuilder("host", `group ${group}`).warning(
      `not seen within ${formatDuration(inputs.within)}: ${formatHostNames(gone.map((host) => formatLastSeen(host, inputs)))}`,
      "is cron or a worker running there? If they run jobs less often, use --within",
    ),
  ];
}

/** Finds members that are neither a group nor a host that was ever seen. */
function findUnseenMembers(group: string, hosts: readonly string[], inputs: HostCheckInputs): Finding[] {
  const strangers = hosts.filter(
    (host) => computeHostSeenAgo(host, inputs) === undefined && !inputs.running.has(host),
  );
  if (strangers.length === 0) return [];
  return [
    createFindingBuilder("host", `group ${group}`).warning(
      `neither a group nor a host that was ever seen: ${formatHostNames(strangers.map((host) => addHint(host, inputs)))}`,
      "a host is seen when it runs signalbox run or worker; a member must be a full name (FQDN), as the host itself reports it",
    ),
  ];
}

function addHint(host: string, { snapshot }: HostCheckInputs): string {
  const full = [...snapshot.hosts.keys()].find((known) => known.startsWith(`${host}.`));
  return full === undefined ? host : `${host} (did you mean ${quoteText(full)}?)`;
}

function computeHostSeenAgo(host: string, { snapshot, wall }: HostCheckInputs): number | undefined {
  return computeSeenAgo(snapshot.hosts.get(host), wall);
}

function formatLastSeen(host: string, inputs: HostCheckInputs): string {
  const ago = computeHostSeenAgo(host, inputs);
  return ago === undefined ? `${host} (never)` : `${host} (${formatBriefDuration(ago)} ago)`;
}

function createDrainCheck(
  { snapshot, wall }: HostCheckInputs,
  groups: GroupCheckInputs["groups"],
): GroupCheckInputs["isDrained"] {
  const drains = [...snapshot.drains.values()].filter((drain) => !hasEnded(drain, wall));
  return (host) => drains.some((drain) => isDrainApplicable(drain, buildHostReach(groups, host)));
}

/** Number of hosts listed in one finding. Further hosts are only counted. */
const MAX_LISTED_HOSTS = 5;

/** Formats the hosts of a finding: `web1, web2, 3 more`. */
export function formatHostNames(hosts: readonly string[]): string {
  const more = hosts.length > MAX_LISTED_HOSTS ? [`${hosts.length - MAX_LISTED_HOSTS} more`] : [];
  return [...hosts.slice(0, MAX_LISTED_HOSTS), ...more].join(", ");
}
