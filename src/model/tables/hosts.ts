import { canonicalHost, groupsOf } from "../../fleet/groups.ts";
import type { HostRecord } from "../../fleet/host-record.ts";
import { applies, type Drain } from "../../protocol/drain.ts";
import { seenAgo } from "../alive.ts";
import { type Claim, claimsOf, isHolder } from "../claims.ts";
import type { Picture } from "../picture.ts";
import { ago, briefWho, drainJson, drainNote } from "./cells.ts";
import { sharesOf, shareText } from "./shares.ts";
import { type PictureView, SCENE_ROOMS, type Scene } from "./view.ts";

interface HostRow {
  fqdn: string;
  /** What it last said of itself; undefined for one that is only named by a group or a ticket. */
  record: HostRecord | undefined;
  held: number;
  waiting: number;
  groups: readonly string[];
  drains: readonly Drain[];
  /** Its resources, side by side: `cpu 3/4  mem 2048/7976`. */
  shares: string;
}

export const hosts: PictureView<HostRow> = {
  ...{ of: "picture", id: "hosts", brief: "hosts: what they have, when they were seen, what runs there" },
  rooms: [...SCENE_ROOMS, "locks", "resources"],
  columns: [
    { id: "host", title: "HOST", priority: 1, text: ({ fqdn }) => fqdn, brief: ({ fqdn }) => briefWho(fqdn) },
    {
      ...{ id: "seen", title: "SEEN", priority: 1 },
      isTimed: true,
      text: ({ record }, wall) =>
        seenAgo(record, wall) === undefined ? "never" : `${ago(record?.seenAt, wall)} ago`,
      order: ({ record }) => -(record?.seenAt ?? Number.NEGATIVE_INFINITY),
      tone: ({ record }) => (record === undefined ? "problem" : "plain"),
    },
    {
      ...{ id: "held", title: "HOLDS", priority: 2, align: "right", text: ({ held }) => String(held) },
      order: ({ held }) => held,
      tone: ({ held }) => (held > 0 ? "held" : "quiet"),
    },
    {
      ...{
        id: "waiting",
        title: "WAITS",
        priority: 2,
        align: "right",
        text: ({ waiting }) => String(waiting),
      },
      order: ({ waiting }) => waiting,
      tone: ({ waiting }) => (waiting > 0 ? "waiting" : "quiet"),
    },
    {
      ...{
        id: "cpu",
        title: "CPU",
        priority: 4,
        align: "right",
        text: ({ record }) => String(record?.cpu ?? ""),
      },
      order: ({ record }) => record?.cpu ?? 0,
    },
    {
      ...{ id: "memory", title: "MEMMB", priority: 4, align: "right" },
      text: ({ record }) => String(record?.memMb ?? ""),
      order: ({ record }) => record?.memMb ?? 0,
    },
    { id: "leases", title: "LEASES", priority: 3, text: ({ shares }) => shares },
    { id: "groups", title: "GROUPS", priority: 3, text: ({ groups }) => groups.join(" ") },
    {
      id: "note",
      title: "NOTE",
      priority: 3,
      text: ({ drains }) => drainNote(drains, "host"),
      tone: () => "problem",
    },
    { id: "version", title: "VERSION", priority: 5, text: ({ record }) => record?.version ?? "" },
    { id: "macros", title: "MACROS", priority: 6, text: ({ record }) => macrosText(record) },
  ],
  sort: "host",
  key: ({ fqdn }) => fqdn,
  facets: ({ fqdn, drains, held, waiting }) => ({
    states: [
      ...(drains.length > 0 ? ["drained"] : []),
      ...(held > 0 ? ["held"] : []),
      ...(waiting > 0 ? ["waiting"] : []),
      ...(held + waiting === 0 ? ["free"] : []),
    ],
    ...{ hosts: [fqdn], holders: [] },
  }),
  subject: ({ fqdn }) => ({ kind: "host", name: fqdn }),
  json: ({ fqdn, record, held, waiting, groups, drains }) => ({
    ...{ host: fqdn, seenAt: record?.seenAt, cpu: record?.cpu, memMb: record?.memMb, macros: record?.macros },
    ...{ version: record?.version, holds: held, waits: waiting, groups, drains: drains.map(drainJson) },
  }),
  rows: hostRows,
  empty: "No host was ever seen. One is as soon as it runs something: signalbox run --lock demo -- true",
};

function hostRows(picture: Picture, scene: Scene): HostRow[] {
  const claims = claimsByHost(picture);
  const listed = [...scene.groups.values()].flat().filter((member) => !scene.groups.has(member));
  const shares = new Map(
    sharesOf(picture).hosts.map(({ host, parts }) => [host, parts.map(shareText).join("  ")]),
  );
  const names = new Set([...picture.hosts.keys(), ...claims.keys(), ...listed.map(canonicalHost)]);
  return [...names].map((fqdn) => {
    const groups = groupsOf(scene.groups, fqdn);
    const reach = { resources: [], host: fqdn, groups };
    const own = claims.get(fqdn) ?? [];
    const held = own.filter(isHolder).length;
    const drains = scene.drains.filter((drain) => applies(drain, reach));
    return {
      ...{ fqdn, record: picture.hosts.get(fqdn), groups, drains },
      ...{ held, waiting: own.length - held, shares: shares.get(fqdn) ?? "" },
    };
  });
}

function claimsByHost(picture: Picture): Map<string, Claim[]> {
  const found = new Map<string, Claim[]>();
  for (const claim of claimsOf(picture).values()) {
    const host = claim.stands.find(({ place }) => place.ticket !== undefined)?.place.ticket?.host;
    if (host === undefined) continue;
    const name = canonicalHost(host);
    const known = found.get(name);
    if (known === undefined) found.set(name, [claim]);
    else known.push(claim);
  }
  return found;
}

function macrosText(record: HostRecord | undefined): string {
  return Object.entries(record?.macros ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}
