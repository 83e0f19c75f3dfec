import { canonicalHost, hostsOf } from "../../fleet/groups.ts";
import type { Drain } from "../../protocol/drain.ts";
import { seenWithin } from "../alive.ts";
import { drainJson, drainNote } from "./cells.ts";
import type { PictureView } from "./view.ts";

/** A host seen within this time counts as live, ms. */
const LIVE_WITHIN = 3_600_000;

interface GroupRow {
  name: string;
  members: readonly string[];
  fault: string | undefined;
  /** With those of the groups in it. */
  hosts: readonly string[];
  live: number;
  drains: readonly Drain[];
}

export const groups: PictureView<GroupRow> = {
  ...{
    of: "picture",
    isTimed: true,
    id: "groups",
    brief: "groups of hosts: their members, and how many hosts were seen in the last hour",
  },
  rooms: ["groups", "drains", "hosts"],
  columns: [
    { id: "group", title: "GROUP", priority: 1, text: ({ name }) => name },
    {
      ...{
        id: "hosts",
        title: "HOSTS",
        priority: 2,
        align: "right",
        text: ({ hosts }) => String(hosts.length),
      },
      order: ({ hosts }) => hosts.length,
    },
    {
      ...{ id: "live", title: "LIVE", priority: 2, align: "right", text: ({ live }) => String(live) },
      order: ({ live }) => live,
      tone: ({ live }) => (live === 0 ? "problem" : "plain"),
    },
    { id: "members", title: "MEMBERS", priority: 1, text: ({ members }) => members.join(" ") },
    {
      ...{ id: "note", title: "NOTE", priority: 3, tone: () => "problem" },
      text: ({ fault, drains }) => [fault ?? "", drainNote(drains, "group")].filter(Boolean).join("; "),
    },
  ],
  sort: "group",
  key: ({ name }) => name,
  facets: ({ fault, drains, hosts }) => ({
    states: [...(fault !== undefined ? ["malformed"] : []), drains.length > 0 ? "drained" : "free"],
    ...{ hosts, holders: [] },
  }),
  subject: ({ name }) => ({ kind: "group", name }),
  json: ({ name, members, hosts, live, fault, drains }) => ({
    ...{ group: name, members, hosts, live, fault, drains: drains.map(drainJson) },
  }),
  rows: (picture, scene) =>
    [...picture.groups].map(([name, { value, fault }]) => {
      const own = hostsOf(scene.groups, name);
      const live = own.filter((host) =>
        seenWithin(picture.hosts.get(canonicalHost(host)), LIVE_WITHIN, scene.wall),
      );
      const drains = scene.drains.filter(
        ({ scope, name: of }) => scope === "all" || (scope === "group" && of === name),
      );
      return { name, members: value ?? [], fault, hosts: own, live: live.length, drains };
    }),
  empty: "There are no groups. Make one: signalbox group set web web1.example.com web2.example.com",
};
