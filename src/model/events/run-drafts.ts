import { formatBriefDuration } from "../../base/duration.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";
import { formatTicketOwner, getEntryState } from "../snapshot/claims.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { shortenOwner } from "../tables/cells.ts";
import type { Tone } from "../views/view.ts";
import type { EventDraft, EventKind } from "./event.ts";
import { findTicketChanges, type TicketChange, visitChanges } from "./event.ts";

/** Builds events of runs from changes in tickets and in lock histories. */
export function buildRunDrafts(before: Snapshot, after: Snapshot): EventDraft[] {
  const ended = findEndedRuns(before, after);
  const drafts: EventDraft[] = [];
  for (const [run, changes] of findTicketChanges(before, after)) {
    if (ended.has(run)) continue;
    const draft = buildRunDraft(run, changes);
    if (draft !== undefined) drafts.push(draft);
  }
  for (const [run, { lock, past }] of ended) drafts.push(buildEndedDraft(run, lock, past));
  return drafts;
}

/** Finds runs that were added to a history, by run id. */
function findEndedRuns(before: Snapshot, after: Snapshot): Map<string, { lock: string; past: PastRun }> {
  const found = new Map<string, { lock: string; past: PastRun }>();
  visitChanges(before.histories, after.histories, (lock, was = [], is = []) => {
    const known = new Set(was.map(({ run }) => run));
    for (const past of is) if (!known.has(past.run)) found.set(past.run, { lock, past });
  });
  return found;
}

function buildEndedDraft(run: string, lock: string, past: PastRun): EventDraft {
  const { host, pid, exit, held, endedAt, reason } = past;
  const how = `exit ${exit} after ${formatBriefDuration(held)}${reason === undefined ? "" : `: ${reason}`}`;
  return {
    at: endedAt,
    kind: "ended",
    tone: exit === 0 ? "quiet" : "problem",
    host,
    subject: { kind: "record", name: run, about: { kind: "lock", name: lock }, isEndedRun: true },
    lock,
    formatWords: () => [lock, shortenOwner(`${host}:${pid}`), how],
  };
}

/** Builds the event for the ticket changes of a run. The first change determines its kind. */
function buildRunDraft(run: string, changes: readonly TicketChange[]): EventDraft | undefined {
  const [main] = changes;
  const entry = main?.is ?? main?.was;
  const kind = main && findEventKind(main);
  if (main === undefined || entry === undefined || kind === undefined) return undefined;
  const { name } = main;
  const at = { kind: main.kind, name };
  const isGone = kind === "ended" || kind === "left";
  return {
    kind,
    tone: TONES[kind],
    at: findInstant(kind, entry),
    host: entry.ticket?.host,
    subject: isGone
      ? { kind: "record", name: run, about: at, isEndedRun: true }
      : { kind: "run", name: run, queue: at },
    lock: main.kind === "lock" ? name : undefined,
    formatWords: (noticed) => [
      formatNames(changes),
      shortenOwner(formatTicketOwner(entry)),
      formatCircumstances(kind, main, noticed),
    ],
  };
}

type RunEventKind = Extract<
  EventKind,
  "waiting" | "admitted" | "granted" | "ended" | "left" | "reset" | "malformed"
>;

const TONES: Readonly<Record<RunEventKind, Tone>> = {
  waiting: "waiting",
  admitted: "waiting",
  granted: "held",
  ended: "quiet",
  left: "quiet",
  reset: "problem",
  malformed: "problem",
};

function findEventKind({ was, is }: TicketChange): RunEventKind | undefined {
  const [old, now] = [was && getEntryState(was), is && getEntryState(is)];
  if (now === "malformed") return old === "malformed" ? undefined : "malformed";
  if (now === undefined || now === "grace") {
    // The run of an entry in grace has already ended.
    if (old === "grace") return undefined;
    return old === "held" || now === "grace" ? "ended" : "left";
  }
  if (now === "held" && old !== "held") return "granted";
  if (is?.ticket?.reset !== undefined && was?.ticket?.reset === undefined) return "reset";
  if (now === "admitted" && old !== "admitted") return "admitted";
  return old === undefined ? "waiting" : undefined;
}

function findInstant(kind: RunEventKind, { ticket }: QueueEntry): number | undefined {
  if (kind === "granted") return ticket?.grantedAt;
  if (kind === "waiting") return ticket?.enqueuedAt;
  return kind === "reset" ? ticket?.reset?.at : undefined;
}

/** Formats the lock and the leases: `backup-db  db=2`. */
function formatNames(changes: readonly TicketChange[]): string {
  const [first, second, ...more] = changes.map(({ kind, name, is, was }) =>
    kind === "lock" ? name : `${name}=${(is ?? was)?.ticket?.count ?? "?"}`,
  );
  return [first, second, more.length > 0 ? `+${more.length}` : undefined]
    .filter((name) => name !== undefined)
    .join("  ");
}

function formatCircumstances(
  kind: RunEventKind,
  { kind: of, was, is, ahead }: TicketChange,
  at: number,
): string | undefined {
  const ticket = (is ?? was)?.ticket;
  if (ticket === undefined) return undefined;
  const { enqueuedAt, grantedAt, reset } = ticket;
  switch (kind) {
    case "granted":
      return grantedAt === undefined ? undefined : `after ${formatBriefDuration(grantedAt - enqueuedAt)}`;
    case "waiting":
      return ahead > 0 ? `behind ${ahead}` : undefined;
    case "left":
      return `after ${formatBriefDuration(Math.max(0, at - enqueuedAt))}`;
    case "ended":
      return is === undefined && of === "lock" ? "its end is not recorded" : undefined;
    case "reset":
      return `asked by ${reset?.by}${reset?.why === undefined ? "" : `: ${reset.why}`}`;
    default:
      return undefined;
  }
}
