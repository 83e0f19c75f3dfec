import { explain } from "../explain/explain.ts";
import { formatExplanation, type SessionLivenessMap } from "../explain/explain-text.ts";
import { type Claim, isHolder } from "../snapshot/claims.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { getStateTone } from "../tables/cells.ts";
import { computeClaimState, getClaimToken } from "../tables/runs.ts";
import {
  buildAuditTable,
  buildDetailTable,
  buildFacts,
  buildOwnerCell,
  type Cell,
  type Detail,
  type DetailColumn,
  type DetailContext,
  filterAuditRecords,
  type Section,
} from "./detail.ts";
import { buildRunnerCell } from "./queue.ts";
import { buildTicketFacts } from "./ticket.ts";

/** Builds the detail of a run: what it holds or waits for, and why it waits. */
export function buildRunDetail(snapshot: Snapshot, claim: Claim, detailContext: DetailContext): Detail {
  const { wall, sessions } = detailContext;
  const claimEntry = claim.entries.find(({ entry }) => entry.ticket !== undefined) ?? claim.entries[0];
  const own = claimEntry === undefined ? [] : buildTicketFacts(claimEntry.entry, detailContext);
  const lines = isHolder(claim) ? [] : formatExplanation(explain(snapshot, claim, wall), wall, sessions);
  return {
    heading: `run ${claim.run}: ${computeClaimState(claim)}`,
    tone: getStateTone(computeClaimState(claim)),
    facts: [
      ...own.filter(({ label }) => label !== "run" && label !== "token"),
      ...buildFacts([["token", String(getClaimToken(claim))]]),
    ],
    sections: [
      ...(lines.length === 0 ? [] : [{ kind: "lines", title: "why", lines } as const]),
      ...buildTicketTable(claim),
      ...buildAuditTable(filterAuditRecords(snapshot.audit, (target) => target === `run ${claim.run}`)),
    ],
  };
}

function buildTicketTable({ entries }: Claim): Section[] {
  const rows = entries.map(({ queue: { kind, name, entries }, entry }): Cell[] => {
    const state = entry.ticket?.state ?? "malformed";
    return [
      ...[
        { text: kind },
        { text: name },
        { text: kind === "lock" ? "" : String(entry.ticket?.count ?? "?") },
      ],
      { text: state, tone: getStateTone(state) },
      ...[{ text: `${entries.indexOf(entry) + 1} of ${entries.length}` }, { text: entry.key }],
    ];
  });
  return buildDetailTable(
    "tickets",
    [
      { title: "KIND", priority: 1 },
      { title: "NAME", priority: 1 },
      { title: "UNITS", priority: 2, align: "right" },
      { title: "STATE", priority: 1, isMarked: true },
      { title: "PLACE", priority: 2 },
      { title: "KEY", priority: 5 },
    ],
    rows,
  );
}

/** Options of a table of runs. */
interface ClaimTableOptions {
  /** All runs are on one host: the table omits the host column. */
  isOneHost?: true;
  /** Command that shows all runs. */
  all?: string;
}

/** Builds the table of the runs of a host or group: holders first, then in the order of claims. */
export function buildClaimTable(
  claims: readonly Claim[],
  sessions: SessionLivenessMap,
  { isOneHost, all }: ClaimTableOptions = {},
): Section[] {
  const getRank = (claim: Claim) => (isHolder(claim) ? 0 : 1);
  const sorted = [...claims].sort(
    (a, b) => getRank(a) - getRank(b) || (getClaimToken(a) < getClaimToken(b) ? -1 : 1),
  );
  const columns: DetailColumn[] = [
    { title: "RUN", priority: 3 },
    ...(isOneHost ? [] : [{ title: "HOST", priority: 1 }]),
    { title: "PID", priority: 2, align: "right" },
    { title: "STATE", priority: 1, isMarked: true },
    { title: "RUNNER", priority: 3 },
    { title: "HOLDS OR WAITS FOR", priority: 1 },
  ];
  const rows = sorted.map((claim) =>
    buildClaimCells(claim, sessions).filter((_, at) => !(isOneHost && at === 1)),
  );
  const targets = sorted.map(({ run, entries: [stand] }) => ({
    title: `run ${run}`,
    subject: { kind: "run" as const, name: run, ...(stand && { queue: stand.queue }) },
  }));
  return buildDetailTable("runs", columns, rows, { targets, ...(all !== undefined && { all }) });
}

function buildClaimCells(claim: Claim, sessions: SessionLivenessMap): Cell[] {
  const { entry } = claim.entries.find((claimEntry) => claimEntry.entry.ticket !== undefined) ?? {};
  const state = computeClaimState(claim);
  return [
    ...[
      { text: claim.run },
      buildOwnerCell(entry?.ticket?.host ?? ""),
      { text: String(entry?.ticket?.pid ?? "") },
    ],
    { text: state, tone: getStateTone(state) },
    entry === undefined ? { text: "" } : buildRunnerCell(entry, sessions),
    { text: claim.entries.map(formatClaimEntry).join(" ") },
  ];
}

function formatClaimEntry({ queue: { kind, name }, entry: { ticket } }: Claim["entries"][number]): string {
  return kind === "lock" ? name : `${name}=${ticket?.count ?? "?"}`;
}
