import type { WallTime } from "../../core/base/clock.ts";
import { canonicalizeHost, collectTexts, pluralize } from "../../core/base/text.ts";
import { listGroupHosts } from "../../core/fleet/groups.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import type { Claim } from "../../site/state/claims.ts";
import { isSeenWithin, type RunnerLiveness } from "../../site/state/liveness.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import { buildViewContext } from "../../site/state/view-context.ts";
import { createNoteColumn, createNumberColumn, createTextColumn, formatDrainNote } from "./columns.ts";
import {
  buildAuditTable,
  buildDetailTable,
  buildFacts,
  type Detail,
  type DetailContext,
  type Section,
} from "./detail.ts";
import { formatDrainLine } from "./drain-lines.ts";
import { DRAIN_JSON } from "./drains.ts";
import {
  computeHostActivity,
  findClaimsOnHosts,
  formatSeen,
  judgeHostByClaims,
  NO_ACTIVITY,
} from "./hosts.ts";
import { describeCount, describeObject, describeParts, describeText, describeTexts } from "./json.ts";
import { buildClaimTable } from "./runs.ts";
import type { SnapshotView, TableColumn } from "./view.ts";

/** A host seen within this time counts as live, ms. */
const LIVE_WITHIN = 3_600_000;

interface GroupRow {
  name: string;
  members: readonly string[];
  /** Why its value cannot be read. */
  fault: string | undefined;
  /** All hosts, including those of nested groups. */
  hosts: readonly string[];
  live: number;
  drains: readonly Drain[];
}

export const groupsView: SnapshotView<GroupRow> = {
  of: "snapshot",
  isTimed: true,
  id: "groups",
  brief: "groups of hosts: their members, and how many hosts were seen in the last hour",
  collections: ["groups", "drains", "hosts"],
  columns: [
    createTextColumn("group", 1, ({ name }) => name),
    createNumberColumn("hosts", 2, ({ hosts }) => hosts.length),
    createNumberColumn("live", 2, ({ live }) => live, { tones: ["problem", "plain"] }),
    createTextColumn("members", 1, ({ members }) => members.join(" ")),
    createNoteColumn(3, ({ fault, drains }) =>
      collectTexts([fault, drains.length > 0 && formatDrainNote(drains, "group")]).join("; "),
    ),
  ],
  sort: "group",
  getKey: ({ name }) => name,
  getFacets: ({ fault, drains, hosts }) => ({
    states: collectTexts([fault && "malformed", drains.length > 0 ? "drained" : "free"]),
    hosts,
    holders: [],
  }),
  getSubject: ({ name }) => ({ kind: "group", name }),
  json: describeObject("group", "A group of hosts.", {
    group: describeText("name of the group", "name"),
    members: describeTexts("members as configured: hosts and groups", "members"),
    hosts: describeTexts("all hosts of the group, directly or through other groups", "hosts"),
    live: describeCount(
      "number of `hosts` seen in the last hour: with a record at most 65 minutes old",
      "live",
    ),
    "fault?": describeText("why the group cannot be read", "fault"),
    drains: describeParts(DRAIN_JSON, "drains of the group, and of everything", ({ drains }) => drains),
  }),
  buildRows: (snapshot, viewContext) =>
    [...snapshot.groups].map(([name, { value, fault }]) => {
      const own = listGroupHosts(viewContext.groups, name);
      const live = own.filter((host) =>
        isSeenWithin(snapshot.hosts.get(canonicalizeHost(host)), LIVE_WITHIN, viewContext.wall),
      );
      const drains = viewContext.drains.filter(
        ({ scope, name: of }) => scope === "all" || (scope === "group" && of === name),
      );
      return { name, members: value ?? [], fault, hosts: own, live: live.length, drains };
    }),
  empty: "No groups yet. Create one: signalbox group set web web1.example.com web2.example.com",
};

/** The data of a group in a snapshot, with the drains that apply to all its hosts. */
interface GroupState extends Omit<GroupRow, "live"> {
  /** Groups that contain it, directly or indirectly. */
  parents: readonly string[];
  /** All claims on its hosts, with or without `-g`, by the canonical name of the host. */
  claims: ReadonlyMap<string, readonly Claim[]>;
}

/** Finds a group; undefined if it does not exist. */
export function findGroupState(snapshot: Snapshot, name: string, wall: WallTime): GroupState | undefined {
  const kept = snapshot.groups.get(name);
  if (kept === undefined) return undefined;
  const viewContext = buildViewContext(snapshot, wall);
  const parents = listParentGroups(viewContext.groups, name);
  const stopping = new Set([name, ...parents]);
  const hosts = listGroupHosts(viewContext.groups, name);
  return {
    name,
    members: kept.value ?? [],
    fault: kept.fault,
    hosts,
    parents,
    drains: viewContext.drains.filter(
      ({ scope, name: of }) => scope === "all" || (scope === "group" && stopping.has(of)),
    ),
    claims: findClaimsOnHosts(snapshot, hosts.map(canonicalizeHost)),
  };
}

function listParentGroups(groups: ReadonlyMap<string, readonly string[]>, name: string): string[] {
  const found = new Set<string>();
  const add = (child: string) => {
    for (const [parent, members] of groups) if (members.includes(child)) found.add(parent);
  };
  add(name);
  for (const parent of found) add(parent); // the loop also visits elements added during iteration
  return [...found].filter((parent) => parent !== name);
}

/** Orders claims for session queries that may not reach all: the first claim of each host, then the second of each. */
export function spreadOverHosts(claims: GroupState["claims"]): Claim[] {
  const lists = [...claims.values()];
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, rank) => lists.flatMap((own) => own[rank] ?? [])).flat();
}

/** Builds the detail of a group: members, hosts and their liveness, runs and drains. */
export function buildGroupDetail(snapshot: Snapshot, group: GroupState, context: DetailContext): Detail {
  const { name, members, fault, hosts, parents, drains, claims } = group;
  return {
    heading: `group ${name}: ${pluralize(hosts.length, "host")}${drains.length > 0 ? ", drained" : ""}`,
    tone: drains.length > 0 || fault !== undefined ? "problem" : "plain",
    facts: buildFacts([
      ["members", members.join(" ")],
      ["malformed", fault, "problem"],
      ["part of", parents.join(" ")],
      ...drains.map((drain) => ["drain", formatDrainLine(drain), "problem"] as const),
    ]),
    sections: [
      ...buildHostTable(snapshot, group, context),
      ...buildClaimTable([...claims.values()].flat(), context),
      ...buildAuditTable(snapshot, (target) => target === `group ${name}`),
    ],
  };
}

/** Maximum number of hosts listed. */
const MANY_HOSTS = 100;

function buildHostTable(
  snapshot: Snapshot,
  { hosts, claims }: GroupState,
  context: DetailContext,
): Section[] {
  const activities = computeHostActivity(snapshot);
  const rows = hosts.map((host) => {
    const name = canonicalizeHost(host);
    const record = snapshot.hosts.get(name);
    const activity = activities.get(name) ?? NO_ACTIVITY;
    const { verdict } = judgeHostByClaims({ record, claims: claims.get(name) ?? [], activity }, context);
    return { ...activity, host, seen: formatSeen(record, context.wall), verdict };
  });
  return buildDetailTable("hosts", HOST_COLUMNS, rows, { most: MANY_HOSTS });
}

interface GroupHostRow {
  host: string;
  seen: string;
  verdict: RunnerLiveness["verdict"];
  held: number;
  waiting: number;
}

const HOST_COLUMNS: readonly TableColumn<GroupHostRow>[] = [
  createTextColumn("host", 1, ({ host }) => host),
  createTextColumn("seen", 1, ({ seen }) => seen),
  createTextColumn("alive", 1, ({ verdict }) => verdict, {
    getTone: ({ verdict }) => (verdict === "alive" ? "plain" : "problem"),
  }),
  createNumberColumn("holds", 2, ({ held }) => held),
  createNumberColumn("waits", 2, ({ waiting }) => waiting),
];
