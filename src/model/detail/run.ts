import type { Queue, QueueEntry } from "../../protocol/ticket.ts";
import { explain } from "../explain/explain.ts";
import { formatExplanation, type SessionLivenessMap } from "../explain/explain-text.ts";
import { type Claim, type ClaimEntry, findClaimTicket, getEntryState, isHolder } from "../snapshot/claims.ts";
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
  type DetailContext,
  type DetailTarget,
  type ItemColumn,
  type Section,
} from "./detail.ts";
import { buildRunnerCell, buildStateCell } from "./queue.ts";
import { buildTicketFacts } from "./ticket.ts";

/** Builds the detail of a run: what it holds or waits for, and why it waits. */
export function buildRunDetail(snapshot: Snapshot, claim: Claim, detailContext: DetailContext): Detail {
  const claimEntry = claim.entries.find(({ entry }) => entry.ticket !== undefined) ?? claim.entries[0];
  const own = claimEntry === undefined ? [] : buildTicketFacts(claimEntry.entry, detailContext);
  const lines = isHolder(claim)
    ? []
    : formatExplanation(explain(snapshot, claim, detailContext.wall), detailContext);
  return {
    heading: `run ${claim.run}: ${computeClaimState(claim)}`,
    tone: getStateTone(computeClaimState(claim)),
    facts: [
      ...own.filter(({ label }) => label !== "run" && label !== "token"),
      ...buildFacts([["token", String(getClaimToken(claim))]]),
    ],
    sections: [
      ...(lines.length === 0 ? [] : [{ kind: "lines", title: "why", lines } as const]),
      ...buildDetailTable("tickets", TICKET_COLUMNS, claim.entries),
      ...buildAuditTable(snapshot, (target) => target === `run ${claim.run}`),
    ],
  };
}

const TICKET_COLUMNS: readonly ItemColumn<ClaimEntry>[] = [
  { title: "KIND", priority: 1, getCell: ({ queue }) => queue.kind },
  { title: "NAME", priority: 1, getCell: ({ queue }) => queue.name },
  { title: "UNITS", priority: 2, align: "right", getCell: formatUnits },
  {
    title: "STATE",
    priority: 1,
    isMarked: true,
    getCell: ({ entry }) => buildStateCell(getEntryState(entry)),
  },
  { title: "PLACE", priority: 2, getCell: ({ queue: { entries }, entry }) => formatPlace(entries, entry) },
  { title: "KEY", priority: 5, getCell: ({ entry }) => entry.key },
];

function formatUnits({ queue: { kind }, entry: { ticket } }: ClaimEntry): string {
  return kind === "lock" ? "" : String(ticket?.count ?? "?");
}

function formatPlace(entries: Queue, entry: QueueEntry): string {
  return `${entries.indexOf(entry) + 1} of ${entries.length}`;
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
  { sessions }: DetailContext,
  { isOneHost, all }: ClaimTableOptions = {},
): Section[] {
  const getRank = (claim: Claim) => (isHolder(claim) ? 0 : 1);
  const sorted = [...claims].sort(
    (a, b) => getRank(a) - getRank(b) || (getClaimToken(a) < getClaimToken(b) ? -1 : 1),
  );
  const columns: ItemColumn<Claim>[] = [
    { title: "RUN", priority: 3, getCell: ({ run }) => run },
    ...(isOneHost ? [] : [HOST_COLUMN]),
    {
      title: "PID",
      priority: 2,
      align: "right",
      getCell: (claim) => String(findClaimTicket(claim)?.pid ?? ""),
    },
    {
      title: "STATE",
      priority: 1,
      isMarked: true,
      getCell: (claim) => buildStateCell(computeClaimState(claim)),
    },
    { title: "RUNNER", priority: 3, getCell: (claim) => buildClaimRunnerCell(claim, sessions) },
    {
      title: "HOLDS OR WAITS FOR",
      priority: 1,
      getCell: ({ entries }) => entries.map(formatClaimEntry).join(" "),
    },
  ];
  return buildDetailTable("runs", columns, sorted, { all, getTarget: buildRunTarget });
}

const HOST_COLUMN: ItemColumn<Claim> = {
  title: "HOST",
  priority: 1,
  getCell: (claim) => buildOwnerCell(findClaimTicket(claim)?.host ?? ""),
};

function buildRunTarget({ run, entries: [first] }: Claim): DetailTarget {
  return { title: `run ${run}`, subject: { kind: "run", name: run, ...(first && { queue: first.queue }) } };
}

function buildClaimRunnerCell({ entries }: Claim, sessions: SessionLivenessMap): Cell | undefined {
  const readable = entries.find(({ entry }) => entry.ticket !== undefined);
  return readable && buildRunnerCell(readable.entry, sessions);
}

function formatClaimEntry({ queue: { kind, name }, entry: { ticket } }: Claim["entries"][number]): string {
  return kind === "lock" ? name : `${name}=${ticket?.count ?? "?"}`;
}
