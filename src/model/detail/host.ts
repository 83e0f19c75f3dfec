import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { canonicalizeHost, listHostGroups } from "../../fleet/groups.ts";
import type { HostRecord } from "../../fleet/host-record.ts";
import { type Drain, isDrainApplicable } from "../../protocol/drain.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";
import { findRunnerLiveness } from "../explain/explain-text.ts";
import { formatDrainLine } from "../preview/eviction-preview-text.ts";
import { computeHostAgents, formatDeclined, type HostAgent, sumDeclined } from "../rows/host-agents.ts";
import { formatSeen, judgeHostLiveness, type RunnerLiveness } from "../rows/liveness.ts";
import { buildClaimsWith, type Claim, findClaimHost, isHolder } from "../snapshot/claims.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { formatMacros } from "../tables/cells.ts";
import { buildViewContext } from "../views/view-context.ts";
import { buildAuditTable, buildFacts, type Detail, type DetailContext } from "./detail.ts";
import { buildClaimTable } from "./run.ts";

/** The data of a host in a snapshot. */
interface HostState {
  /** Canonical name. */
  name: string;
  record: HostRecord | undefined;
  claims: readonly Claim[];
  groups: readonly string[];
  drains: readonly Drain[];
  agents: readonly HostAgent[];
}

/** Finds a host; undefined if the snapshot has no data about it. @param wall  wall clock, ms since the epoch */
export function findHostState(snapshot: Snapshot, host: string, wall: number): HostState | undefined {
  const name = canonicalizeHost(host);
  const viewContext = buildViewContext(snapshot, wall);
  const record = snapshot.hosts.get(name);
  const claims = listClaimsOnHosts(snapshot, new Set([name]));
  const groups = listHostGroups(viewContext.groups, name);
  const drains = viewContext.drains.filter((drain) =>
    isDrainApplicable(drain, { resources: [], host: name, groups }),
  );
  const agents = computeHostAgents(snapshot).get(name) ?? [];
  const isKnown =
    claims.length + groups.length + agents.length > 0 || drains.some(({ scope }) => scope === "host");
  return record !== undefined || isKnown ? { name, record, claims, groups, drains, agents } : undefined;
}

/** Lists the claims on some hosts. @param hosts  canonical names */
export function listClaimsOnHosts(snapshot: Snapshot, hosts: ReadonlySet<string>): Claim[] {
  const names = new Map<string, boolean>();
  const isOnThem = ({ ticket }: QueueEntry): boolean => {
    if (ticket === undefined) return false;
    const known = names.get(ticket.host);
    if (known !== undefined) return known;
    const isOne = hosts.has(canonicalizeHost(ticket.host));
    names.set(ticket.host, isOne);
    return isOne;
  };
  const claims = [...buildClaimsWith(snapshot, isOnThem).values()];
  return claims.filter((claim) => hosts.has(findClaimHost(claim) ?? ""));
}

/** Determines the liveness of a host from its record and its runners. */
export function judgeHostByClaims(
  { record, claims }: Pick<HostState, "record" | "claims">,
  { wall, sessions }: DetailContext,
) {
  const runners = claims.flatMap(({ entries: [first] }): RunnerLiveness[] => {
    const alive =
      first?.entry.ticket?.state === "grace" ? undefined : first && findRunnerLiveness(first.entry, sessions);
    return alive === undefined ? [] : [alive];
  });
  return judgeHostLiveness(record, runners, wall);
}

/** Builds the detail of a host: facts, liveness, runs and drains. */
export function buildHostDetail(snapshot: Snapshot, host: HostState, context: DetailContext): Detail {
  const { name, record, claims, groups, drains, agents } = host;
  const alive = judgeHostByClaims(host, context);
  const held = claims.filter(isHolder).length;
  const state = held > 0 ? "busy" : claims.length > 0 ? "waiting" : "idle";
  return {
    heading: `host ${name}: ${drains.length > 0 ? `${state}, drained` : state}`,
    tone: drains.length > 0 ? "problem" : held > 0 ? "held" : "free",
    facts: buildFacts([
      ["liveness", `${alive.verdict}: ${alive.text}`, alive.verdict === "quiet" ? "problem" : "plain"],
      ["seen", formatSeenFact(record, context.wall)],
      ["runs", `${held} hold, ${claims.length - held} wait`],
      ["cpu", record?.cpu === undefined ? undefined : String(record.cpu)],
      ["memory", record?.memMb === undefined ? undefined : `${record.memMb} MiB`],
      ["macros", formatMacros(record?.macros)],
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

function listAgentFacts(agent: HostAgent, wall: number): (readonly [label: string, value: string])[] {
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

function formatSeenFact(record: HostRecord | undefined, wall: number): string {
  const at = record === undefined || record.seenAt <= 0 ? "" : `, about ${formatInstant(record.seenAt)}`;
  return `${formatSeen(record, wall)}${at}`;
}

/** Whether an audit target is a host. @param name  canonical name */
export function isAboutHost(target: string, name: string): boolean {
  return target.startsWith("host ") && canonicalizeHost(target.slice("host ".length)) === name;
}
