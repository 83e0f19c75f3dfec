import { canonicalizeHost, listHostGroups } from "../../fleet/groups.ts";
import type { HostRecord } from "../../fleet/host-record.ts";
import { type Drain, isDrainApplicable } from "../../protocol/drain.ts";
import { THRESHOLDS } from "../problems/problem.ts";
import { computeHostActivity, type HostActivity, NO_ACTIVITY } from "../rows/host-activity.ts";
import { computeHostAgents, type HostAgent, sumDeclined, toAgentJson } from "../rows/host-agents.ts";
import { computeShares, formatShare } from "../rows/shares.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { CONTEXT_COLLECTIONS, type SnapshotView, type Tone, type ViewContext } from "../views/view.ts";
import { formatAge, formatDrainNote, formatMacros, toDrainJson } from "./cells.ts";
import { createAgeMeasure, createNoteColumn, createNumberColumn, createOwnerColumn } from "./columns.ts";

interface HostRow extends HostSigns {
  fqdn: string;
  /** The last host record; undefined if only a group or a ticket names the host. */
  record: HostRecord | undefined;
  groups: readonly string[];
  drains: readonly Drain[];
  agents: readonly HostAgent[];
  /** Its resources in one text: `cpu 3/4  mem 2048/7976`. */
  shares: string;
}

export const hostsView: SnapshotView<HostRow> = {
  of: "picture",
  id: "hosts",
  brief: "hosts: what they have, when they were seen, what runs there",
  collections: [...CONTEXT_COLLECTIONS, "locks", "resources"],
  columns: [
    createOwnerColumn("host", "HOST", 1, ({ fqdn }) => fqdn),
    {
      id: "state",
      title: "STATE",
      priority: 1,
      isMarked: true,
      isTimed: true,
      formatCell: (row, wall) => judgeHostState(row, wall) + (row.drains.length > 0 ? ", drained" : ""),
      getTone: (row, wall) => (row.drains.length > 0 ? "problem" : getHostTone(judgeHostState(row, wall))),
    },
    {
      id: "seen",
      title: "SEEN",
      priority: 1,
      isTimed: true,
      formatCell: formatSeenCell,
      getSortValue: ({ writtenAt, isPresent }) =>
        isPresent ? Number.NEGATIVE_INFINITY : -(writtenAt ?? Number.NEGATIVE_INFINITY),
      getTone: ({ writtenAt, isPresent }) => (writtenAt === undefined && !isPresent ? "problem" : "plain"),
      ...createAgeMeasure(({ writtenAt }: HostRow) => writtenAt),
    },
    createNumberColumn("held", "HOLDS", 2, ({ held }) => held, { zero: "quiet", other: "plain" }),
    createNumberColumn("waiting", "WAITS", 2, ({ waiting }) => waiting, { zero: "quiet", other: "waiting" }),
    createNumberColumn("cpu", "CPU", 4, ({ record }) => record?.cpu),
    createNumberColumn("memory", "MEMMB", 4, ({ record }) => record?.memMb),
    { id: "leases", title: "LEASES", priority: 3, formatCell: ({ shares }) => shares },
    { id: "groups", title: "GROUPS", priority: 3, formatCell: ({ groups }) => groups.join(" ") },
    createNoteColumn(3, ({ drains }) => formatDrainNote(drains, "host")),
    { id: "version", title: "VERSION", priority: 5, formatCell: ({ record }) => record?.version ?? "" },
    {
      id: "agent",
      title: "AGENT",
      priority: 4,
      formatCell: ({ agents }) => [...new Set(agents.map(({ version }) => version))].join(" "),
    },
    createAgentColumn("agentHeld", "AG-HOLDS", ({ held }) => held),
    createAgentColumn("agentWaiting", "AG-WAITS", ({ waiting }) => waiting),
    createAgentColumn("declined", "DECLINED", (agent) =>
      [...sumDeclined([agent]).values()].reduce((sum, count) => sum + count, 0),
    ),
    { id: "macros", title: "MACROS", priority: 6, formatCell: ({ record }) => formatMacros(record?.macros) },
  ],
  sort: "host",
  getKey: ({ fqdn }) => fqdn,
  getFacets: ({ fqdn, drains, held, waiting }) => ({
    states: [
      ...(drains.length > 0 ? ["drained"] : []),
      ...(held > 0 ? ["held"] : []),
      ...(waiting > 0 ? ["waiting"] : []),
      ...(held + waiting === 0 ? ["free"] : []),
    ],
    hosts: [fqdn],
    holders: [],
  }),
  getSubject: ({ fqdn }) => ({ kind: "host", name: fqdn }),
  toJson: ({ fqdn, record, held, waiting, groups, drains, agents }) => ({
    host: fqdn,
    seenAt: record?.seenAt,
    cpu: record?.cpu,
    memMb: record?.memMb,
    macros: record?.macros,
    version: record?.version,
    holds: held,
    waits: waiting,
    groups,
    drains: drains.map(toDrainJson),
    agents: agents.map(toAgentJson),
  }),
  buildRows: buildHostRows,
  empty: "No hosts yet. A host appears when it first runs something: signalbox run --lock demo -- true",
};

/** Formats when a host was last alive. One with a run whose session is renewed is alive now, however old its record. */
function formatSeenCell({ writtenAt, isPresent }: HostRow, wall: number): string {
  if (isPresent) return "now";
  return writtenAt === undefined ? "never" : `${formatAge(Math.min(writtenAt, wall), wall)} ago`;
}

/** Creates a column with the sum of a number of the agents. It is empty for a host without an agent. */
function createAgentColumn(id: string, title: string, getNumber: (agent: HostAgent) => number) {
  return createNumberColumn<HostRow>(id, title, 5, ({ agents }) =>
    agents.length === 0 ? undefined : agents.reduce((sum, agent) => sum + getNumber(agent), 0),
  );
}

function buildHostRows(snapshot: Snapshot, viewContext: ViewContext): HostRow[] {
  const activities = computeHostActivity(snapshot);
  const agents = computeHostAgents(snapshot);
  const listed = [...viewContext.groups.values()].flat().filter((member) => !viewContext.groups.has(member));
  const shares = new Map(
    computeShares(snapshot).hosts.map(({ host, parts }) => [host, parts.map(formatShare).join("  ")]),
  );
  const claimants = [...activities].filter(([, { held, waiting }]) => held + waiting > 0);
  const names = new Set([
    ...snapshot.hosts.keys(),
    ...claimants.map(([host]) => host),
    ...listed.map(canonicalizeHost),
    ...agents.keys(),
  ]);
  return [...names].map((fqdn) => {
    const groups = listHostGroups(viewContext.groups, fqdn);
    const reach = { resources: [], host: fqdn, groups };
    const drains = viewContext.drains.filter((drain) => isDrainApplicable(drain, reach));
    return {
      fqdn,
      record: snapshot.hosts.get(fqdn),
      groups,
      drains,
      ...(activities.get(fqdn) ?? NO_ACTIVITY),
      shares: shares.get(fqdn) ?? "",
      agents: agents.get(fqdn) ?? [],
    };
  });
}

/** What shows that a host is or was alive. */
export interface HostSigns extends HostActivity {
  record: HostRecord | undefined;
}

/** `silent`: it does nothing, and has written nothing for a day. `unknown`: it has never written anything. */
type HostState = "busy" | "waiting" | "idle" | "silent" | "unknown";

/** Determines the state of a host from its signs. @param wall  wall clock, ms since the epoch */
export function judgeHostState(signs: HostSigns, wall: number): HostState {
  const { held, waiting, writtenAt } = signs;
  if (held > 0) return "busy";
  if (waiting > 0) return "waiting";
  if (writtenAt === undefined) return "unknown";
  return wall - writtenAt > THRESHOLDS.host ? "silent" : "idle";
}

const TONES: Readonly<Record<HostState, Tone>> = {
  busy: "held",
  waiting: "waiting",
  idle: "free",
  silent: "waiting",
  unknown: "quiet",
};

function getHostTone(state: HostState): Tone {
  return TONES[state];
}
