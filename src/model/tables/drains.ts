import { briefDuration } from "../../base/duration.ts";
import { type Drain, hasEnded } from "../../protocol/drain.ts";
import { drainJson, lasting } from "./cells.ts";
import type { PictureView } from "./view.ts";

interface DrainRow {
  drain: Drain;
  /** Its time is over. */
  ended: boolean;
}

export const drains: PictureView<DrainRow> = {
  ...{
    of: "picture",
    isTimed: true,
    id: "drains",
    brief: "drains: what may not start, since when, by whom, why",
  },
  rooms: ["drains"],
  columns: [
    { id: "scope", title: "SCOPE", priority: 1, text: ({ drain }) => drain.scope, tone: () => "problem" },
    {
      ...{ id: "name", title: "NAME", priority: 1 },
      text: ({ drain }) => (drain.scope === "all" ? "" : drain.name),
    },
    { id: "by", title: "BY", priority: 1, text: ({ drain }) => drain.by },
    {
      ...{ id: "since", title: "SINCE", priority: 2, align: "right" },
      isTimed: true,
      text: ({ drain }, wall) => (drain.at > 0 ? briefDuration(wall - drain.at) : ""),
      order: ({ drain }) => lasting(drain.at),
    },
    {
      ...{ id: "ends", title: "ENDS", priority: 2 },
      isTimed: true,
      text: ({ drain }, wall) => endText(drain, wall),
      order: ({ drain }) => drain.until ?? Number.POSITIVE_INFINITY,
      tone: ({ ended }) => (ended ? "problem" : "plain"),
    },
    { id: "why", title: "WHY", priority: 1, text: ({ drain }) => drain.why ?? "" },
  ],
  sort: "since",
  key: ({ drain }) => drain.key,
  facets: ({ drain, ended }) => ({
    states: [ended ? "ended" : "drained"],
    hosts: drain.scope === "host" ? [drain.name] : [],
    holders: [drain.by],
  }),
  subject: ({ drain: { scope, name } }) => ({ kind: "drain", scope, name }),
  json: ({ drain, ended }) => ({ ...drainJson(drain), ended }),
  rows: (picture, { wall }) =>
    [...picture.drains.values()].map((drain) => ({ drain, ended: hasEnded(drain, wall) })),
  empty: "Nothing is drained. To stop what would start on a host: signalbox drain host web1.example.com",
};

function endText(drain: Drain, wall: number): string {
  if (drain.until === undefined) return "";
  return hasEnded(drain, wall)
    ? `${briefDuration(wall - drain.until)} ago`
    : `in ${briefDuration(drain.until - wall)}`;
}
