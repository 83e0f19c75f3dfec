import { formatBriefDuration } from "../base/duration.ts";
import { type Drain, hasEnded } from "../protocol/drain.ts";
import { computeDurationWeight, createAgeMeasure, toDrainJson } from "./columns.ts";
import type { SnapshotView } from "./view.ts";

interface DrainRow {
  drain: Drain;
  /** Whether the drain has expired. */
  ended: boolean;
}

export const drainsView: SnapshotView<DrainRow> = {
  of: "snapshot",
  isTimed: true,
  id: "drains",
  brief: "drains: what may not start, since when, by whom, why",
  collections: ["drains"],
  columns: [
    {
      id: "scope",
      title: "SCOPE",
      priority: 1,
      formatCell: ({ drain }) => drain.scope,
      getTone: () => "problem",
    },
    {
      id: "name",
      title: "NAME",
      priority: 1,
      formatCell: ({ drain }) => (drain.scope === "all" ? "" : drain.name),
    },
    { id: "by", title: "BY", priority: 1, formatCell: ({ drain }) => drain.by },
    {
      id: "since",
      title: "SINCE",
      priority: 2,
      align: "right",
      isTimed: true,
      formatCell: ({ drain }, wall) => (drain.at > 0 ? formatBriefDuration(wall - drain.at) : ""),
      getSortValue: ({ drain }) => computeDurationWeight(drain.at),
      ...createAgeMeasure(({ drain }) => (drain.at > 0 ? drain.at : undefined)),
    },
    {
      id: "ends",
      title: "ENDS",
      priority: 2,
      isTimed: true,
      formatCell: ({ drain }, wall) => formatDrainEnd(drain, wall),
      getSortValue: ({ drain }) => drain.until ?? Number.POSITIVE_INFINITY,
      getTone: ({ ended }) => (ended ? "problem" : "plain"),
    },
    { id: "why", title: "WHY", priority: 1, formatCell: ({ drain }) => drain.why ?? "" },
  ],
  sort: "since",
  getKey: ({ drain }) => drain.key,
  getFacets: ({ drain, ended }) => ({
    states: [ended ? "ended" : "drained"],
    hosts: drain.scope === "host" ? [drain.name] : [],
    holders: [drain.by],
  }),
  getSubject: ({ drain: { scope, name } }) => ({ kind: "drain", scope, name }),
  toJson: ({ drain, ended }) => ({ ...toDrainJson(drain), ended }),
  buildRows: (snapshot, { wall }) =>
    [...snapshot.drains.values()].map((drain) => ({ drain, ended: hasEnded(drain, wall) })),
  empty: "Nothing is drained. To stop new runs on a host: signalbox drain host web1.example.com",
};

function formatDrainEnd(drain: Drain, wall: number): string {
  if (drain.until === undefined) return "";
  return hasEnded(drain, wall)
    ? `${formatBriefDuration(wall - drain.until)} ago`
    : `in ${formatBriefDuration(drain.until - wall)}`;
}
