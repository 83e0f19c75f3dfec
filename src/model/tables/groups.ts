import { canonicalizeHost, listGroupHosts } from "../../fleet/groups.ts";
import type { Drain } from "../../protocol/drain.ts";
import { isSeenWithin } from "../rows/liveness.ts";
import type { SnapshotView } from "../views/view.ts";
import { formatDrainNote, toDrainJson } from "./cells.ts";
import { createNoteColumn, createNumberColumn } from "./columns.ts";

/** A host seen within this time counts as live, ms. */
const LIVE_WITHIN = 3_600_000;

interface GroupRow {
  name: string;
  members: readonly string[];
  fault: string | undefined;
  /** All hosts, including those of nested groups. */
  hosts: readonly string[];
  live: number;
  drains: readonly Drain[];
}

export const groupsView: SnapshotView<GroupRow> = {
  of: "picture",
  isTimed: true,
  id: "groups",
  brief: "groups of hosts: their members, and how many hosts were seen in the last hour",
  collections: ["groups", "drains", "hosts"],
  columns: [
    { id: "group", title: "GROUP", priority: 1, formatCell: ({ name }) => name },
    createNumberColumn("hosts", "HOSTS", 2, ({ hosts }) => hosts.length),
    createNumberColumn("live", "LIVE", 2, ({ live }) => live, { zero: "problem", other: "plain" }),
    { id: "members", title: "MEMBERS", priority: 1, formatCell: ({ members }) => members.join(" ") },
    createNoteColumn(3, ({ fault, drains }) =>
      [fault ?? "", formatDrainNote(drains, "group")].filter(Boolean).join("; "),
    ),
  ],
  sort: "group",
  getKey: ({ name }) => name,
  getFacets: ({ fault, drains, hosts }) => ({
    states: [...(fault !== undefined ? ["malformed"] : []), drains.length > 0 ? "drained" : "free"],
    hosts,
    holders: [],
  }),
  getSubject: ({ name }) => ({ kind: "group", name }),
  toJson: ({ name, members, hosts, live, fault, drains }) => ({
    group: name,
    members,
    hosts,
    live,
    fault,
    drains: drains.map(toDrainJson),
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
