import { canonicalHost, hostsOf } from "../../fleet/groups.ts";
import type { Drain } from "../../protocol/drain.ts";
import { seenText } from "../alive.ts";
import { type Claim, isHolder } from "../claims.ts";
import type { Pulses } from "../explain-text.ts";
import { drainLine } from "../foresight-text.ts";
import type { Picture } from "../picture.ts";
import { sceneOf } from "../tables/scene.ts";
import {
  auditTable,
  type Cell,
  type Detail,
  type DetailColumn,
  known,
  recordsAbout,
  type Section,
  tableOf,
} from "./detail.ts";
import { aliveOn, claimsOn, hostOf } from "./host.ts";
import { claimTable } from "./run.ts";

/** What a picture knows of a group. */
export interface GroupSight {
  name: string;
  members: readonly string[];
  /** What is wrong with its value. */
  fault: string | undefined;
  /** With those of the groups in it. */
  hosts: readonly string[];
  /** Groups that it is in, directly or through others. */
  parents: readonly string[];
  /** What stops all of its hosts. */
  drains: readonly Drain[];
  /** Everything on its hosts, whether or not it runs there with `-g`. */
  claims: readonly Claim[];
}

/** Undefined where there is no such group. @param wall  wall clock, ms since the epoch */
export function groupSight(picture: Picture, name: string, wall: number): GroupSight | undefined {
  const kept = picture.groups.get(name);
  if (kept === undefined) return undefined;
  const scene = sceneOf(picture, wall);
  const parents = parentsOf(scene.groups, name);
  const stopping = new Set([name, ...parents]);
  const hosts = hostsOf(scene.groups, name);
  return {
    ...{ name, members: kept.value ?? [], fault: kept.fault, hosts, parents },
    drains: scene.drains.filter(
      ({ scope, name: of }) => scope === "all" || (scope === "group" && stopping.has(of)),
    ),
    claims: claimsOn(picture, new Set(hosts.map(canonicalHost))),
  };
}

function parentsOf(groups: ReadonlyMap<string, readonly string[]>, name: string): string[] {
  const found = new Set<string>();
  const add = (child: string) => {
    for (const [parent, members] of groups) if (members.includes(child)) found.add(parent);
  };
  add(name);
  for (const parent of found) add(parent); // a set gives out what is added while it is walked
  return [...found].filter((parent) => parent !== name);
}

/** Claims in the order in which their runners are to be asked, where not all can be: one of each host, then the next of each. */
export function spreadOverHosts(claims: readonly Claim[]): Claim[] {
  const ranked = [...Map.groupBy(claims, hostOf).values()].flatMap((own) =>
    own.map((claim, rank) => ({ claim, rank })),
  );
  return ranked.sort((a, b) => a.rank - b.rank).map(({ claim }) => claim);
}

/** A group: its members, the hosts that makes, which of them are there, what runs on them, what stops them. */
export function groupDetail(picture: Picture, sight: GroupSight, wall: number, pulses: Pulses): Detail {
  const { name, members, fault, hosts, parents, drains, claims } = sight;
  const count = `${hosts.length} ${hosts.length === 1 ? "host" : "hosts"}`;
  return {
    heading: `group ${name}: ${count}${drains.length > 0 ? ", drained" : ""}`,
    tone: drains.length > 0 || fault !== undefined ? "problem" : "plain",
    facts: known([
      ["members", members.join(" ")],
      ["malformed", fault, "problem"],
      ["part of", parents.join(" ")],
      ...drains.map((drain) => ["drain", drainLine(drain), "problem"] as const),
    ]),
    sections: [
      ...hostTable(picture, sight, wall, pulses),
      ...claimTable(claims, pulses),
      ...auditTable(recordsAbout(picture.audit, (target) => target === `group ${name}`)),
    ],
  };
}

/** Hosts of a group that are listed: all, unless there are very many. */
const MANY_HOSTS = 100;

function hostTable(picture: Picture, { hosts, claims }: GroupSight, wall: number, pulses: Pulses): Section[] {
  const byHost = Map.groupBy(claims, hostOf);
  const rows = hosts.map((host): Cell[] => {
    const record = picture.hosts.get(canonicalHost(host));
    const own = byHost.get(canonicalHost(host)) ?? [];
    const held = own.filter(isHolder).length;
    const { verdict } = aliveOn({ record, claims: own }, wall, pulses);
    return [
      ...[{ text: host }, { text: seenText(record, wall) }],
      { text: verdict, tone: verdict === "alive" ? "plain" : "problem" },
      ...[{ text: String(held) }, { text: String(own.length - held) }],
    ];
  });
  const columns: DetailColumn[] = [
    { title: "HOST", priority: 1 },
    { title: "SEEN", priority: 1 },
    { title: "ALIVE", priority: 1 },
    { title: "HOLDS", priority: 2, align: "right" },
    { title: "WAITS", priority: 2, align: "right" },
  ];
  return tableOf("hosts", columns, rows, { most: MANY_HOSTS });
}
