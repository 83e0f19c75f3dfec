import { formatBriefDuration, formatInstant, type WallTime } from "../../core/base/clock.ts";
import { memoize } from "../../core/base/memoize.ts";
import { quoteShellWord } from "../../core/base/shell.ts";
import { canonicalizeHost, formatShortList } from "../../core/base/text.ts";
import { HOST_RECORD_INTERVAL, type HostRecord } from "../../core/fleet/host-record.ts";
import type { AgentReport } from "../../core/protocol/agent-record.ts";
import { type Drain, isDrainApplicable } from "../../core/protocol/drain.ts";
import {
  type Claim,
  findClaimTicket,
  followClaims,
  groupClaimsByHost,
  isHolder,
} from "../../site/state/claims.ts";
import { findRunnerLiveness } from "../../site/state/explain.ts";
import {
  computeSeenAgo,
  isSeenWithin,
  type LivenessVerdict,
  type RunnerLiveness,
} from "../../site/state/liveness.ts";
import { THRESHOLDS } from "../../site/state/problem.ts";
import { computeShares, type ResourceShare } from "../../site/state/shares.ts";
import { buildGroupMembers, type Snapshot } from "../../site/state/snapshot.ts";
import type { Tone } from "../../site/state/subject.ts";
import {
  buildHostReach,
  buildViewContext,
  CONTEXT_COLLECTIONS,
  type ViewContext,
} from "../../site/state/view-context.ts";
import {
  createAgeMeasure,
  createNoteColumn,
  createNumberColumn,
  createOwnerColumn,
  createTextColumn,
  formatAge,
  formatDrainNote,
  formatIfKnown,
  formatPairs,
} from "./columns.ts";
import { buildAuditTable, buildFacts, type Detail, type DetailContext } from "./detail.ts";
import { formatDrainLine } from "./drain-lines.ts";
import { DRAIN_JSON } from "./drains.ts";
import {
  describeCount,
  describeField,
  describeFieldsOf,
  describeInstant,
  describeInteger,
  describeNumber,
  describeObject,
  describeParts,
  describeText,
  describeTexts,
} from "./json.ts";
import { buildClaimTable } from "./runs.ts";
import type { SnapshotView } from "./view.ts";

export interface HostRow extends HostSigns {
  fqdn: string;
  /** The last host record; undefined if the host never wrote one. */
  record: HostRecord | undefined;
  groups: readonly string[];
  drains: readonly Drain[];
  agents: readonly HostAgent[];
  /** Its resources, in the configured order. */
  shares: readonly ResourceShare[];
}

const AGENT_JSON = describeObject<HostAgent>(
  "agent",
  "An agent on a host. Fields that it has not reported yet are missing.",
  {
    agent: describeText("id of the agent; each start of an agent has its own", "id"),
    "user?": describeText("user that the agent runs as", ({ report }) => report?.user),
    pid: describeInteger("process id of the agent", "pid"),
    version: describeText("version of signalbox", "version"),
    holds: describeCount("number of runs of the agent that hold everything they claim", "held"),
    waits: describeCount("number of runs of the agent that wait", "waiting"),
    ...describeFieldsOf(({ report }: HostAgent) => report, {
      "since?": describeInstant("start of the agent", "since"),
      "served?": describeCount("number of calls that it has served to their end", "served"),
      "declined?": describeField(
        {
          type: "object",
          description: "number of calls that it has declined, by reason; see docs/agent.md",
          additionalProperties: { type: "integer" },
        },
        "declined",
      ),
    }),
  },
);

export const SHARE_JSON = describeObject<ResourceShare>("share", "Use of a resource of a host.", {
  resource: describeText("name of the resource", "name"),
  short: describeText("the same without the host", "short"),
  "template?": describeText("name with macros that defines it for all hosts, such as `FQDN_mem`", "template"),
  used: describeCount("units held", "used"),
  "total?": describeCount("total units, if known", "total"),
  "formula?": describeText(
    "how the record of the host gives the total, such as `23 = int(24105/1024)`, or why it gives none",
    "formula",
  ),
  "isDisputed?": describeField(
    {
      type: "boolean",
      description:
        "true if a run there has computed another total: two processes of the host have different macros",
    },
    "isDisputed",
  ),
  waiting: describeCount("number of tickets that wait for units", "waiting"),
});

export const hostsView: SnapshotView<HostRow> = {
  of: "snapshot",
  id: "hosts",
  brief: "hosts: what they have, when they were seen, what runs there",
  collections: [...CONTEXT_COLLECTIONS, "locks", "resources", "runnings", "workers"],
  columns: [
    createOwnerColumn("host", 1, ({ fqdn }) => fqdn),
    createTextColumn(
      "state",
      1,
      (row, wall) => judgeHostState(row, wall) + (row.drains.length > 0 ? ", drained" : ""),
      {
        isMarked: true,
        isTimed: true,
        getTone: (row, wall) => (row.drains.length > 0 ? "problem" : getHostTone(judgeHostState(row, wall))),
      },
    ),
    createTextColumn("seen", 1, formatSeenCell, {
      isTimed: true,
      getSortValue: ({ writtenAt, isPresent }) =>
        isPresent ? Number.NEGATIVE_INFINITY : -(writtenAt ?? Number.NEGATIVE_INFINITY),
      getTone: ({ writtenAt, isPresent }) => (writtenAt === undefined && !isPresent ? "problem" : "plain"),
      ...createAgeMeasure(({ writtenAt }: HostRow) => writtenAt),
    }),
    createNumberColumn("held", 2, ({ held }) => held, { title: "HOLDS", tones: ["quiet", "plain"] }),
    createNumberColumn("waiting", 2, ({ waiting }) => waiting, {
      title: "WAITS",
      tones: ["quiet", "waiting"],
    }),
    createNumberColumn("cpu", 4, ({ record }) => record?.cpu),
    createNumberColumn("memory", 4, ({ record }) => record?.memMb, { title: "MEMMB" }),
    createTextColumn("leases", 3, ({ shares }) => shares.map(formatShare).join("  ")),
    createTextColumn("groups", 3, ({ groups }) => groups.join(" ")),
    createNoteColumn(3, ({ drains }) => formatDrainNote(drains, "host")),
    createTextColumn("version", 5, ({ record }) => record?.version),
    createTextColumn("agent", 4, ({ agents }) =>
      [...new Set(agents.map(({ version }) => version))].join(" "),
    ),
    createAgentColumn("agentHeld", "AG-HOLDS", ({ held }) => held),
    createAgentColumn("agentWaiting", "AG-WAITS", ({ waiting }) => waiting),
    createAgentColumn("declined", "DECLINED", (agent) =>
      [...sumDeclined([agent]).values()].reduce((sum, count) => sum + count, 0),
    ),
    createTextColumn("macros", 6, ({ record }) => formatPairs(record?.macros)),
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
  json: describeObject(
    "host",
    "A host with a record, a claim, a worker, an agent or a drain, or in a group.",
    {
      host: describeText("full name, in lower case", "fqdn"),
      ...describeFieldsOf(({ record }: HostRow) => record, {
        "seenAt?": describeInstant(
          "time when the host last wrote its record, rounded down to five minutes; a host writes the record with a claim, and while an agent or a worker runs there; missing if the host never wrote one",
          "seenAt",
        ),
        "cpu?": describeNumber("number of processors", "cpu"),
        "memMb?": describeNumber("memory, MiB", "memMb"),
        "macros?": describeField(
          {
            type: "object",
            description: "macros from the host's settings",
            additionalProperties: { type: ["number", "string"] },
          },
          "macros",
        ),
        "version?": describeText("version of signalbox on the host", "version"),
      }),
      holds: describeCount(
        "number of runs on the host that hold everything they claim, and of tasks of workers",
        "held",
      ),
      waits: describeCount("number of runs on the host that wait", "waiting"),
      shares: describeParts(
        SHARE_JSON,
        "resources of the host, in the configured order",
        ({ shares }) => shares,
      ),
      groups: describeTexts("groups that contain the host, directly or through other groups", "groups"),
      drains: describeParts(
        DRAIN_JSON,
        "drains of the host, of its groups, and of everything",
        ({ drains }) => drains,
      ),
      agents: describeParts(AGENT_JSON, "agents that have a session there", ({ agents }) => agents),
    },
  ),
  buildRows: buildHostRows,
  empty: "No hosts yet. A host appears when it first runs something: signalbox run --lock demo -- true",
};

/** Formats when a host was last alive. One with a run whose session is renewed is alive now, however old its record. */
function formatSeenCell({ writtenAt, isPresent }: HostRow, wall: WallTime): string {
  if (isPresent) return "now";
  return writtenAt === undefined ? "never" : `${formatAge(Math.min(writtenAt, wall), wall)} ago`;
}

/** Creates a column with the sum of a number of the agents. It is empty for a host without an agent. */
function createAgentColumn(id: string, title: string, getNumber: (agent: HostAgent) => number) {
  return createNumberColumn<HostRow>(
    id,
    5,
    ({ agents }) =>
      agents.length === 0 ? undefined : agents.reduce((sum, agent) => sum + getNumber(agent), 0),
    { title },
  );
}

/** Lists the hosts that have a record, a claim, a worker, an agent, a group, or a drain of their own. */
export function listKnownHosts(snapshot: Snapshot): Set<string> {
  const groups = buildGroupMembers(snapshot);
  const members = [...groups.values()].flat().filter((member) => !groups.has(member));
  const named = new Set(members);
  const executions = Array.from(snapshot.executions.values()).flat();
  for (const { value } of [...snapshot.workers.values(), ...executions])
    if (value !== undefined) named.add(value.host);
  for (const { host } of snapshot.agentSessions.values()) named.add(host);
  for (const host of groupClaimsByHost(snapshot).keys()) named.add(host);
  for (const { scope, name } of snapshot.drains.values()) if (scope === "host") named.add(name);
  return new Set([...snapshot.hosts.keys(), ...Array.from(named, canonicalizeHost)]);
}

export function buildHostRows(snapshot: Snapshot, viewContext: ViewContext): HostRow[] {
  const activities = computeHostActivity(snapshot);
  const agents = computeHostAgents(snapshot);
  const shares = new Map(computeShares(snapshot).hosts.map(({ host, parts }) => [host, parts]));
  return [...listKnownHosts(snapshot)].map((fqdn) => {
    const reach = buildHostReach(viewContext.groups, fqdn);
    return {
      fqdn,
      record: snapshot.hosts.get(fqdn),
      groups: reach.groups,
      drains: viewContext.drains.filter((drain) => isDrainApplicable(drain, reach)),
      ...(activities.get(fqdn) ?? NO_ACTIVITY),
      shares: shares.get(fqdn) ?? [],
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

/** Determines the state of a host from its signs. */
export function judgeHostState(signs: HostSigns, wall: WallTime): HostState {
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

export function getHostTone(state: HostState): Tone {
  return TONES[state];
}

/** What the runs of a host show about it. */
interface HostActivity {
  /** Runs that hold all that they claim, and tasks of workers. */
  held: number;
  waiting: number;
  /** A run or a worker there has a session. etcd keeps it only as long as it is renewed, so the host was alive a moment ago. */
  isPresent: boolean;
  /** The latest instant in anything that the host has written, ms since the epoch; undefined if it wrote nothing. */
  writtenAt: WallTime | undefined;
}

export const NO_ACTIVITY: Readonly<HostActivity> = {
  held: 0,
  waiting: 0,
  isPresent: false,
  writtenAt: undefined,
};

/**
 * Computes the activity of each host that has a record, a ticket, a worker or a past run, by its canonical name. The record alone is
 * written at long intervals.
 */
export function computeHostActivity(
  snapshot: Pick<Snapshot, "hosts" | "histories" | "queues" | "executions" | "workers">,
): ReadonlyMap<string, HostActivity> {
  const activities = new Map<string, HostActivity>();
  // Hosts write their names always in the same way.
  const getActivity = memoize((host: string): HostActivity => {
    const name = canonicalizeHost(host);
    const activity = activities.get(name) ?? { ...NO_ACTIVITY };
    activities.set(name, activity);
    return activity;
  });
  const addInstant = (host: string, at: WallTime) => {
    if (at <= 0) return;
    const activity = getActivity(host);
    activity.writtenAt = Math.max(at, activity.writtenAt ?? 0);
  };
  for (const [host, { seenAt }] of snapshot.hosts) addInstant(host, seenAt);
  for (const [run] of snapshot.histories.values()) if (run !== undefined) addInstant(run.host, run.endedAt);
  for (const { value } of snapshot.workers.values())
    if (value !== undefined) getActivity(value.host).isPresent = true;
  const tasks = new Map(
    [...snapshot.executions.values()].flat().map(({ value }) => [value?.run, value?.host]),
  );
  for (const [host, own] of groupClaimsByHost(snapshot)) {
    addInstant(host, own.findLastInstant());
    const activity = getActivity(host);
    activity.held += own.held;
    activity.waiting += own.waiting;
    activity.isPresent ||= own.attached > 0;
  }
  const claims = followClaims(snapshot);
  for (const [run, host] of tasks)
    if (run !== undefined && host !== undefined && !claims.has(run)) getActivity(host).held += 1;
  return activities;
}

/** An agent that has a session. An agent that no run has used for some minutes has none. */
export interface HostAgent {
  /** Each start of an agent has its own id. */
  id: string;
  pid: number;
  version: string;
  /** Runs on its sessions. */
  held: number;
  waiting: number;
  /** Undefined until the agent has written its first report. */
  report: AgentReport | undefined;
}

type AgentSnapshot = Pick<Snapshot, "agentSessions" | "agentReports" | "queues">;

/**
 * Finds the agents of each host, by its canonical name. The report of an agent that owns no session any more is that of
 * an earlier one, whose session another agent has taken over.
 */
export function computeHostAgents(snapshot: AgentSnapshot): Map<string, HostAgent[]> {
  const agents = new Map<string, HostAgent[]>();
  if (snapshot.agentSessions.size === 0) return agents;
  const reports = new Map([...snapshot.agentReports.values()].map((report) => [report.agent, report]));
  const runs = countAgentRuns(snapshot);
  for (const { host, session, agent: id, pid, version } of snapshot.agentSessions.values()) {
    const name = canonicalizeHost(host);
    const known = agents.get(name) ?? [];
    agents.set(name, known);
    const { held, waiting } = runs.get(session) ?? NO_RUNS;
    const own = known.find((one) => one.id === id);
    if (own === undefined) known.push({ id, pid, version, held, waiting, report: reports.get(id) });
    else Object.assign(own, { held: own.held + held, waiting: own.waiting + waiting });
  }
  return agents;
}

const NO_RUNS = { held: 0, waiting: 0 };

/** Counts the runs of each session of an agent. All tickets of a run that has not ended are on one session. */
function countAgentRuns(snapshot: AgentSnapshot): Map<bigint, typeof NO_RUNS> {
  const counts = new Map<bigint, typeof NO_RUNS>(
    [...snapshot.agentSessions.values()].map(({ session }) => [session, { ...NO_RUNS }]),
  );
  for (const claim of followClaims(snapshot).values()) {
    const count = counts.get(claim.entries[0]?.entry.session ?? 0n);
    if (count !== undefined) count[isHolder(claim) ? "held" : "waiting"] += 1;
  }
  return counts;
}

/** Adds up the declined calls of agents, by reason. */
export function sumDeclined(agents: readonly HostAgent[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [reason, count] of agents.flatMap(({ report }) => Object.entries(report?.declined ?? {})))
    sums.set(reason, (sums.get(reason) ?? 0) + count);
  return sums;
}

/** Formats declined calls, most frequent reason first: `settings 3, files 1`. */
export function formatDeclined(declined: ReadonlyMap<string, number>): string {
  const sorted = [...declined].sort(([, a], [, b]) => b - a);
  return sorted.map(([reason, count]) => `${reason} ${count}`).join(", ");
}

/** The data of a host in a snapshot. */
interface HostDetail {
  /** Canonical name. */
  name: string;
  record: HostRecord | undefined;
  claims: readonly Claim[];
  /** The schedules whose tasks run there. */
  tasks: readonly string[];
  activity: Readonly<HostActivity>;
  groups: readonly string[];
  drains: readonly Drain[];
  agents: readonly HostAgent[];
}

/** Finds a host; undefined if the snapshot has no data about it. */
export function findHostState(snapshot: Snapshot, host: string, wall: WallTime): HostDetail | undefined {
  const name = canonicalizeHost(host);
  const viewContext = buildViewContext(snapshot, wall);
  const record = snapshot.hosts.get(name);
  const claims = findClaimsOnHosts(snapshot, [name]).get(name) ?? [];
  const tasks = [...snapshot.executions.values()]
    .flat()
    .flatMap(({ id, value }) => (canonicalizeHost(value?.host ?? "") === name ? [id] : []));
  const reach = buildHostReach(viewContext.groups, name);
  const { groups } = reach;
  const drains = viewContext.drains.filter((drain) => isDrainApplicable(drain, reach));
  const agents = computeHostAgents(snapshot).get(name) ?? [];
  const activity = computeHostActivity(snapshot).get(name);
  return activity !== undefined || listKnownHosts(snapshot).has(name)
    ? { name, record, claims, tasks, activity: activity ?? NO_ACTIVITY, groups, drains, agents }
    : undefined;
}

/** Finds the claims on each of some hosts that have any. @param hosts  canonical names */
export function findClaimsOnHosts(
  snapshot: Snapshot,
  hosts: readonly string[],
): ReadonlyMap<string, readonly Claim[]> {
  const [wanted, found] = [new Set(hosts), new Map<string, readonly Claim[]>()];
  for (const [host, claims] of groupClaimsByHost(snapshot)) {
    const name = canonicalizeHost(host);
    if (!wanted.has(name)) continue;
    const all = claims.listClaims();
    // A claim with tickets of several hosts is on that of the first one.
    const own =
      all.length === claims.held + claims.waiting
        ? all
        : all.filter((claim) => findClaimTicket(claim)?.host === host);
    const before = found.get(name);
    found.set(name, before === undefined ? own : [...before, ...own]);
  }
  return found;
}

/** Determines the liveness of a host from its record and its runners, or, without any, from its worker. */
export function judgeHostByClaims(
  { record, claims, activity }: Pick<HostDetail, "record" | "claims" | "activity">,
  { wall, sessions }: DetailContext,
) {
  const runners: RunnerLiveness[] = [];
  for (const {
    entries: [first],
  } of claims) {
    const alive = first && findRunnerLiveness(first.entry, sessions);
    if (alive !== undefined && first?.entry.ticket?.state !== "grace") runners.push(alive);
  }
  return activity.isPresent && runners.length === 0
    ? { verdict: "alive" as const, text: "it has a worker" }
    : judgeHostLiveness(record, runners, wall);
}

/** Builds the detail of a host: facts, liveness, runs and drains. */
export function buildHostDetail(snapshot: Snapshot, host: HostDetail, context: DetailContext): Detail {
  const { name, record, claims, tasks, activity, groups, drains, agents } = host;
  const alive = judgeHostByClaims(host, context);
  const held = claims.filter(isHolder).length;
  const state = activity.held > 0 ? "busy" : claims.length > 0 ? "waiting" : "idle";
  return {
    heading: `host ${name}: ${drains.length > 0 ? `${state}, drained` : state}`,
    tone: drains.length > 0 ? "problem" : activity.held > 0 ? "held" : "free",
    facts: buildFacts([
      ["liveness", `${alive.verdict}: ${alive.text}`, alive.verdict === "quiet" ? "problem" : "plain"],
      ["seen", formatSeenFact(record, context.wall)],
      ["runs", `${held} hold, ${claims.length - held} wait`],
      ["tasks", formatShortList(tasks, 5)],
      ["cpu", formatIfKnown(record?.cpu, String)],
      ["memory", formatIfKnown(record?.memMb, (size) => `${size} MiB`)],
      ["macros", formatPairs(record?.macros)],
      ["version", record?.version],
      ...agents.flatMap((agent) => listAgentFacts(agent, context.wall)),
      ["groups", groups.join(" ")],
      ...drains.map((drain) => ["drain", formatDrainLine(drain), "problem"] as const),
    ]),
    sections: [
      ...buildClaimTable(claims, context, {
        isOneHost: true,
        all: `signalbox ls runs --host ${quoteShellWord(name)}`,
      }),
      ...buildAuditTable(snapshot, (target) => isAboutHost(target, name)),
    ],
  };
}

function listAgentFacts(agent: HostAgent, wall: WallTime): (readonly [label: string, value: string])[] {
  const { pid, version, held, waiting, report } = agent;
  const of = report === undefined ? "" : `, user ${report.user}`;
  const served =
    report === undefined
      ? ""
      : `, ${report.served} served in ${formatBriefDuration(Math.max(0, wall - report.since))}`;
  const declined = formatDeclined(sumDeclined([agent]));
  return [
    ["agent", `${version}, process ${pid}${of}: ${held} hold, ${waiting} wait${served}`],
    ...(declined === "" ? [] : [["declined", `calls that the agent did not serve: ${declined}`] as const]),
  ];
}

function formatSeenFact(record: HostRecord | undefined, wall: WallTime): string {
  const at = record === undefined || record.seenAt <= 0 ? "" : `, about ${formatInstant(record.seenAt)}`;
  return `${formatSeen(record, wall)}${at}`;
}

/** Whether an audit target is a host. @param name  canonical name */
export function isAboutHost(target: string, name: string): boolean {
  return target.startsWith("host ") && canonicalizeHost(target.slice("host ".length)) === name;
}

/** Formats when a host was last seen. A record younger than one interval may mean that the host is active now. */
export function formatSeen(record: HostRecord | undefined, wall: WallTime): string {
  const ago = computeSeenAgo(record, wall);
  if (ago === undefined) return "never";
  return ago <= HOST_RECORD_INTERVAL
    ? `in the last ${formatBriefDuration(HOST_RECORD_INTERVAL)}`
    : `${formatBriefDuration(ago)} ago`;
}

/** Formats a share as `cpu 3/4`. Not cleaned. */
export function formatShare({ short, used, total }: ResourceShare): string {
  return `${short} ${used}/${total ?? "?"}`;
}

/**
 * Determines whether a host is alive. Its runners are the best evidence: one renewed session proves that the host is
 * alive, and if no runner renews, the host is most likely down. Without runners, only the host record remains. The host
 * writes it when it claims something: a host that starts nothing for a day writes no record for a day.
 * @param runners  runners on the host whose sessions were queried
 * @param what     name for the runners in the text
 */
export function judgeHostLiveness(
  record: HostRecord | undefined,
  runners: readonly RunnerLiveness[],
  wall: WallTime,
  what = "runners",
): Pick<RunnerLiveness, "verdict" | "text"> {
  const countVerdict = (verdict: LivenessVerdict) => runners.filter((one) => one.verdict === verdict).length;
  const [alive, asked] = [countVerdict("alive"), runners.length - countVerdict("unknown")];
  const seen = `seen ${formatSeen(record, wall)}`;
  if (alive === 0 && countVerdict("agent") > 0)
    return {
      verdict: "alive",
      text: `the agent of ${countVerdict("agent")} of ${asked} ${what} there is alive`,
    };
  if (alive > 0) return { verdict: "alive", text: `${alive} of ${asked} ${what} there are alive` };
  if (asked > 0) return { verdict: "quiet", text: `0 of ${asked} ${what} there are alive; ${seen}` };
  return { verdict: isSeenWithin(record, HOST_RECORD_INTERVAL, wall) ? "alive" : "unknown", text: seen };
}
