import { formatBriefDuration, type WallTime } from "../../core/base/clock.ts";
import { type Drain, type DrainTarget, hasEnded } from "../../core/protocol/drain.ts";
import { DRAIN_SCOPES } from "../../core/protocol/keys.ts";
import { computeDrainExtent, findDrainsOfTarget } from "../../site/state/drain-extent.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import { computeDurationWeight, createAgeColumn, createTextColumn, formatIfKnown } from "./columns.ts";
import { buildFacts, type Detail } from "./detail.ts";
import { formatDrainExtent } from "./drain-extent.ts";
import { describeDrainTarget, formatInstantSeconds } from "./drain-lines.ts";
import {
  describeChoice,
  describeFieldsOf,
  describeFlag,
  describeInstant,
  describeObject,
  describeRevision,
  describeText,
} from "./json.ts";
import type { SnapshotView } from "./view.ts";

interface DrainRow {
  drain: Drain;
  /** Whether the drain has expired. */
  ended: boolean;
}

const DRAIN_FIELDS = {
  scope: describeChoice<Drain>(DRAIN_SCOPES, "kind of object that is drained", "scope"),
  name: describeText<Drain>("name of the lock, resource, host or group; `all` in the scope `all`", "name"),
  by: describeText<Drain>("user who created the drain", "by"),
  at: describeInstant<Drain>("time of creation; 0 if unknown", "at"),
  "why?": describeText<Drain>("reason from the operator", "why"),
  "until?": describeInstant<Drain>("time at which the drain ends automatically", "until"),
  revision: describeRevision<Drain>("etcd revision of the last change of the drain", "modRevision"),
};

export const DRAIN_JSON = describeObject(
  "drain",
  "An operator's order that nothing new is granted in a scope.",
  DRAIN_FIELDS,
);

export const drainsView: SnapshotView<DrainRow> = {
  of: "snapshot",
  isTimed: true,
  id: "drains",
  brief: "drains: what may not start, since when, by whom, why",
  collections: ["drains"],
  columns: [
    createTextColumn("scope", 1, ({ drain }) => drain.scope, { getTone: () => "problem" }),
    createTextColumn("name", 1, ({ drain }) => (drain.scope === "all" ? "" : drain.name)),
    createTextColumn("by", 1, ({ drain }) => drain.by),
    {
      ...createAgeColumn<DrainRow>("since", 2, ({ drain }) => (drain.at > 0 ? drain.at : undefined)),
      getSortValue: ({ drain }) => computeDurationWeight(drain.at),
    },
    createTextColumn("ends", 2, ({ drain }, wall) => formatDrainEnd(drain, wall), {
      isTimed: true,
      getSortValue: ({ drain }) => drain.until ?? Number.POSITIVE_INFINITY,
      getTone: ({ ended }) => (ended ? "problem" : "plain"),
    }),
    createTextColumn("why", 1, ({ drain }) => drain.why),
  ],
  sort: "since",
  getKey: ({ drain }) => drain.key,
  getFacets: ({ drain, ended }) => ({
    states: [ended ? "ended" : "drained"],
    hosts: drain.scope === "host" ? [drain.name] : [],
    holders: [drain.by],
  }),
  getSubject: ({ drain: { scope, name } }) => ({ kind: "drain", scope, name }),
  json: describeObject("drainRow", "A drain.", {
    ...describeFieldsOf(({ drain }: DrainRow) => drain, DRAIN_FIELDS),
    ended: describeFlag("whether `until` has passed, so that the drain has no effect", "ended"),
  }),
  buildRows: (snapshot, { wall }) =>
    [...snapshot.drains.values()].map((drain) => ({ drain, ended: hasEnded(drain, wall) })),
  empty: "Nothing is drained. To stop new runs on a host: signalbox drain host web1.example.com",
};

function formatDrainEnd(drain: Drain, wall: WallTime): string {
  if (drain.until === undefined) return "";
  return hasEnded(drain, wall)
    ? `${formatBriefDuration(wall - drain.until)} ago`
    : `in ${formatBriefDuration(drain.until - wall)}`;
}

/** Builds the detail of a drain, with the runs that still hold something there. */
export function buildDrainDetail(snapshot: Snapshot, { scope, name }: DrainTarget, wall: WallTime): Detail {
  const target = { scope, name };
  const [drain] = findDrainsOfTarget(snapshot, target);
  const extent = computeDrainExtent(snapshot, target, wall);
  const left = extent.holders.length;
  const what = describeDrainTarget(target);
  return {
    heading:
      left === 0
        ? `drain of ${what}: drained`
        : `drain of ${what}: no new grants, waiting for ${left} to end`,
    tone: "problem",
    facts: buildFacts([
      ["by", drain?.by],
      ["why", drain?.why],
      ["since", drain && formatInstantSeconds(drain.at)],
      ["ends", formatIfKnown(drain?.until, formatInstantSeconds)],
    ]),
    sections: [{ kind: "lines", title: "runs in its scope", lines: formatDrainExtent(extent, target, wall) }],
  };
}
