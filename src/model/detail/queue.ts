import { formatBriefDuration } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { isHolding } from "../../protocol/admission.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";
import { findRunnerLiveness, type SessionLivenessMap } from "../explain/explain-text.ts";
import { findPlainTotal } from "../preview/eviction-preview.ts";
import { formatDrainLine } from "../preview/eviction-preview-text.ts";
import { isSessionRenewed } from "../rows/liveness.ts";
import { buildQueueRow, type QueueRow } from "../rows/queue-row.ts";
import { describeTrend } from "../rows/trend.ts";
import { formatTicketOwner, getEntryState } from "../snapshot/claims.ts";
import { findNamedQueue, type Snapshot } from "../snapshot/snapshot.ts";
import { formatTicketCommand, getStateTone } from "../tables/cells.ts";
import { formatShortList } from "../views/short-list.ts";
import { listStoppingDrains } from "../views/stopping-drains.ts";
import type { ViewContext } from "../views/view.ts";
import { buildViewContext } from "../views/view-context.ts";
import {
  buildAuditTable,
  buildDetailTable,
  buildFacts,
  buildOwnerCell,
  buildPastRunTable,
  type Cell,
  type Detail,
  type DetailContext,
  type DetailTarget,
  type Fact,
  type ItemColumn,
  type Section,
} from "./detail.ts";
import { buildLastRunOutput } from "./outcomes.ts";
import { buildTicketFacts } from "./ticket.ts";

/** Builds the detail of a lock or resource: holders and their liveness, waiters, history and operator actions. */
export function buildQueueDetail(
  snapshot: Snapshot,
  kind: QueueKind,
  name: string,
  detailContext: DetailContext,
): Detail {
  const { wall } = detailContext;
  const entries = findNamedQueue(snapshot, kind, name)?.entries ?? [];
  const viewContext = buildViewContext(snapshot, wall);
  const row = buildQueueRow({ kind, name, entries }, viewContext);
  const [first, ...others] = entries.filter(isHolding);
  const isLock = kind === "lock";
  return {
    heading: `${kind} ${name}: ${formatQueueState(row)}`,
    tone: getStateTone(row.state),
    facts: [
      ...(isLock && first !== undefined ? buildTicketFacts(first, detailContext) : []),
      ...(isLock ? [] : buildResourceFacts(snapshot, name, row, entries)),
      ...(isLock ? buildTrendFacts(snapshot.histories.get(name) ?? []) : []),
      ...buildFacts(row.drains.map((drain) => ["drain", formatDrainLine(drain), "problem"])),
    ],
    sections: [
      ...(isLock ? buildLastRunOutput(snapshot.histories.get(name) ?? []) : []),
      ...(isLock && others.length === 0
        ? []
        : buildHolderTable({ kind, name }, entries.filter(isHolding), detailContext)),
      ...buildWaiterTable(row, entries, detailContext, viewContext),
      ...buildPastRunTable(name, isLock ? (snapshot.histories.get(name) ?? []) : []),
      ...(isLock && entries.length === 0 ? buildRerunSection(name, snapshot) : []),
      ...buildAuditTable(snapshot, (target) => target === `${kind} ${name}`),
    ],
  };
}

/** Builds the facts about how long past runs held a lock, and waited for it. */
function buildTrendFacts(past: readonly PastRun[]): Fact[] {
  return (["held", "waited"] as const).flatMap((field) => {
    const value = describeTrend(past, field);
    return value === undefined ? [] : [{ label: field, value, ascii: describeTrend(past, field, true) }];
  });
}

/** Builds a section with the command to repeat the last run of a lock. Histories store only the command name. */
export function buildRerunSection(lock: string, snapshot: Pick<Snapshot, "histories">): Section[] {
  const [last] = snapshot.histories.get(lock) ?? [];
  if (last === undefined) return [];
  const line = `signalbox run --lock ${quoteShellWord(lock)} -- ${quoteShellWord(last.command)}`;
  return [
    { kind: "lines", title: `run it again, on ${last.host} (its arguments are not kept)`, lines: [line] },
  ];
}

function formatQueueState({ kind, state, used, total, drains }: QueueRow): string {
  const also = drains.length > 0 && state !== "drained" ? ", drained" : "";
  return `${state}${also}${kind === "lock" ? "" : `, ${used} of ${total ?? "?"} units held`}`;
}

function buildResourceFacts(
  snapshot: Snapshot,
  name: string,
  { total }: QueueRow,
  entries: readonly QueueEntry[],
) {
  const { value, fault } = snapshot.resources.get(name) ?? {};
  return buildFacts([
    ["total", formatTotal(total, value?.total, fault), fault === undefined ? "plain" : "problem"],
    ["order", value?.order === undefined ? undefined : String(value.order)],
    ["note", value?.note],
    ["totals differ", findTotalDisagreement(entries, findPlainTotal(snapshot, name)), "problem"],
  ]);
}

function formatTotal(
  total: number | undefined,
  configured: string | undefined,
  fault: string | undefined,
): string | undefined {
  if (fault !== undefined) return `configured, but ${fault}`;
  if (configured !== undefined) return `${configured}, configured`;
  return total === undefined ? undefined : `${total}, as stated by its runs`;
}

/** Formats which runs state a different total than others or than the configuration; undefined if all agree. */
function findTotalDisagreement(
  entries: readonly QueueEntry[],
  configured: number | undefined,
): string | undefined {
  const byTotal = new Map<number, string[]>();
  for (const entry of entries) {
    const { total } = entry.ticket ?? {};
    if (total !== undefined) byTotal.set(total, [...(byTotal.get(total) ?? []), formatTicketOwner(entry)]);
  }
  const totals = [...byTotal].sort(([a], [b]) => a - b);
  const odd = totals.filter(([total]) => total !== configured);
  if (configured === undefined ? totals.length < 2 : odd.length === 0) return undefined;
  return odd.map(([total, who]) => `${total} by ${formatShortList(who, 2)}`).join("; ");
}

/** Builds the target of a queue entry: its run. */
function buildTicketTarget(queue: { kind: QueueKind; name: string }, { run }: QueueEntry): DetailTarget {
  return { title: `run ${run}`, subject: { kind: "run", name: run, queue } };
}

function buildHolderTable(
  queue: { kind: QueueKind; name: string },
  holders: readonly QueueEntry[],
  { wall, sessions }: DetailContext,
) {
  const columns: ItemColumn<QueueEntry>[] = [
    { title: "WHO", priority: 1, getCell: (entry) => buildOwnerCell(formatTicketOwner(entry)) },
    { title: "UNITS", priority: 1, align: "right", getCell: formatUnits },
    { title: "STATE", priority: 2, isMarked: true, getCell: (entry) => buildStateCell(getEntryState(entry)) },
    { title: "FOR", priority: 2, align: "right", getCell: (entry) => formatTicketAge(entry, wall) },
    { title: "RUNNER", priority: 2, getCell: (entry) => buildRunnerCell(entry, sessions) },
    { title: "COMMAND", priority: 5, getCell: ({ ticket }) => formatTicketCommand(ticket) },
    { title: "RUN", priority: 3, getCell: ({ run }) => run },
  ];
  return buildDetailTable("holders", columns, holders, {
    getTarget: (entry) => buildTicketTarget(queue, entry),
  });
}

function buildWaiterTable(
  row: QueueRow,
  entries: readonly QueueEntry[],
  { wall, sessions }: DetailContext,
  viewContext: ViewContext,
) {
  const { kind, name } = row;
  const isLock = kind === "lock";
  const columns: ItemColumn<QueueEntry>[] = [
    { title: "PLACE", priority: 1, align: "right", getCell: (entry) => String(entries.indexOf(entry) + 1) },
    { title: "WHO", priority: 1, getCell: (entry) => buildOwnerCell(formatTicketOwner(entry)) },
    { title: "UNITS", priority: isLock ? 8 : 1, align: "right", getCell: isLock ? () => "" : formatUnits },
    { title: "STATE", priority: 1, isMarked: true, getCell: (entry) => buildStateCell(getEntryState(entry)) },
    { title: "WAITS", priority: 2, align: "right", getCell: (entry) => formatTicketAge(entry, wall) },
    { title: "RUNNER", priority: 2, getCell: (entry) => buildRunnerCell(entry, sessions) },
    { title: "COMMAND", priority: 5, getCell: ({ ticket }) => formatTicketCommand(ticket) },
    { title: "RUN", priority: 3, getCell: ({ run }) => run },
    { title: "NOTE", priority: 2, getCell: (entry) => buildNoteCell(entry, row, viewContext) },
  ];
  const waiters = entries.filter((entry) => !isHolding(entry));
  return buildDetailTable("queue", columns, waiters, {
    all: `signalbox ls queues --filter ${quoteShellWord(name)}`,
    getTarget: (entry) => buildTicketTarget({ kind, name }, entry),
  });
}

function formatUnits({ ticket }: QueueEntry): string {
  return String(ticket?.count ?? "?");
}

/** Builds the note of a waiter: unreadable, reset requested, or drained by host or group; otherwise its label. */
function buildNoteCell(
  { ticket, key }: QueueEntry,
  { kind, name, drains }: QueueRow,
  viewContext: ViewContext,
): Cell {
  if (ticket === undefined) return { text: `key ${key}`, tone: "problem" };
  if (ticket.reset !== undefined) return { text: `asked to end by ${ticket.reset.by}`, tone: "problem" };
  const [drain] = listStoppingDrains({ host: ticket.host, queues: [{ kind, name }] }, viewContext).filter(
    (one) => !drains.includes(one),
  );
  return drain === undefined
    ? { text: ticket.label ?? "" }
    : { text: formatDrainLine(drain), tone: "problem" };
}

export function buildStateCell(state: string): Cell {
  return { text: state, tone: getStateTone(state) };
}

/** Builds a cell with the liveness of a runner. Empty in grace: the command has ended, so no renewal is needed. */
export function buildRunnerCell(entry: QueueEntry, sessions: SessionLivenessMap): Cell {
  const alive = entry.ticket?.state === "grace" ? undefined : findRunnerLiveness(entry, sessions);
  const isFine = alive === undefined || isSessionRenewed(alive);
  return { text: alive?.verdict ?? "", tone: isFine ? "plain" : "problem" };
}

function formatTicketAge({ ticket }: QueueEntry, wall: number): string {
  const since = ticket?.grantedAt ?? ticket?.enqueuedAt;
  return since === undefined ? "" : formatBriefDuration(wall - since);
}
