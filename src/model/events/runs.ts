import { briefDuration } from "../../base/duration.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { Place, Ticket } from "../../protocol/ticket.ts";
import { whoIs } from "../claims.ts";
import type { Picture } from "../picture.ts";
import { briefWho } from "../tables/cells.ts";
import type { Tone } from "../tables/view.ts";
import { eachChange, type TicketChange, ticketChanges } from "./changes.ts";
import type { Draft, EventKind } from "./event.ts";

/** What happened to runs: as their tickets show it, and as the histories of locks remember it. */
export function runDrafts(before: Picture, after: Picture): Draft[] {
  const ended = endedRuns(before, after);
  const drafts: Draft[] = [];
  for (const [run, changes] of ticketChanges(before, after)) {
    if (ended.has(run)) continue;
    const draft = draftOf(run, changes);
    if (draft !== undefined) drafts.push(draft);
  }
  for (const [run, { lock, past }] of ended) drafts.push(endedDraft(run, lock, past));
  return drafts;
}

/** Runs that histories remember now and did not before, by id. */
function endedRuns(before: Picture, after: Picture): Map<string, { lock: string; past: PastRun }> {
  const found = new Map<string, { lock: string; past: PastRun }>();
  eachChange(before.histories, after.histories, (lock, was = [], is = []) => {
    const known = new Set(was.map(({ run }) => run));
    for (const past of is) if (!known.has(past.run)) found.set(past.run, { lock, past });
  });
  return found;
}

function endedDraft(run: string, lock: string, past: PastRun): Draft {
  const { host, pid, exit, held, endedAt, reason } = past;
  const how = `exit ${exit} after ${briefDuration(held)}${reason === undefined ? "" : `: ${reason}`}`;
  return {
    ...{ at: endedAt, kind: "ended", tone: exit === 0 ? "quiet" : "problem", host },
    subject: { kind: "record", name: run, about: { kind: "lock", name: lock } },
    lock,
    words: () => [lock, briefWho(`${host}:${pid}`), how],
  };
}

/** The event that a change of a run's tickets is; the first of them speaks for all. */
function draftOf(run: string, changes: readonly TicketChange[]): Draft | undefined {
  const [main] = changes;
  const place = main?.is ?? main?.was;
  const kind = main && kindOf(main);
  if (main === undefined || place === undefined || kind === undefined) return undefined;
  const { name } = main;
  const at = { kind: main.kind, name };
  const isGone = kind === "ended" || kind === "left";
  return {
    ...{ kind, tone: TONES[kind], at: instantOf(kind, place), host: place.ticket?.host },
    subject: isGone ? { kind: "record", name: run, about: at } : { kind: "run", name: run, queue: at },
    lock: main.kind === "lock" ? name : undefined,
    words: (noticed) => [namesOf(changes), briefWho(whoIs(place)), moreOf(kind, main, noticed)],
  };
}

type RunKind = Extract<
  EventKind,
  "waiting" | "admitted" | "granted" | "ended" | "left" | "reset" | "malformed"
>;

const TONES: Readonly<Record<RunKind, Tone>> = {
  ...{ waiting: "waiting", admitted: "waiting", granted: "held", ended: "quiet", left: "quiet" },
  ...{ reset: "problem", malformed: "problem" },
};

function kindOf({ was, is }: TicketChange): RunKind | undefined {
  const [old, now] = [stateOf(was), stateOf(is)];
  if (now === "malformed") return old === "malformed" ? undefined : "malformed";
  if (now === undefined || now === "grace") {
    // A place in grace is the rest of a run that has ended already.
    if (old === "grace") return undefined;
    return old === "held" || now === "grace" ? "ended" : "left";
  }
  if (now === "held" && old !== "held") return "granted";
  if (is?.ticket?.reset !== undefined && was?.ticket?.reset === undefined) return "reset";
  if (now === "admitted" && old !== "admitted") return "admitted";
  return old === undefined ? "waiting" : undefined;
}

function stateOf(place: Place | undefined): Ticket["state"] | "malformed" | undefined {
  return place && (place.ticket?.state ?? "malformed");
}

function instantOf(kind: RunKind, { ticket }: Place): number | undefined {
  if (kind === "granted") return ticket?.grantedAt;
  if (kind === "waiting") return ticket?.enqueuedAt;
  return kind === "reset" ? ticket?.reset?.at : undefined;
}

/** The lock, and what is leased: `backup-db  db=2`. */
function namesOf(changes: readonly TicketChange[]): string {
  const [first, second, ...more] = changes.map(({ kind, name, is, was }) =>
    kind === "lock" ? name : `${name}=${(is ?? was)?.ticket?.count ?? "?"}`,
  );
  return [first, second, more.length > 0 ? `+${more.length}` : undefined]
    .filter((name) => name !== undefined)
    .join("  ");
}

function moreOf(kind: RunKind, { kind: of, was, is, ahead }: TicketChange, at: number): string | undefined {
  const ticket = (is ?? was)?.ticket;
  if (ticket === undefined) return undefined;
  const { enqueuedAt, grantedAt, reset } = ticket;
  switch (kind) {
    case "granted":
      return grantedAt === undefined ? undefined : `after ${briefDuration(grantedAt - enqueuedAt)}`;
    case "waiting":
      return ahead > 0 ? `behind ${ahead}` : undefined;
    case "left":
      return `after ${briefDuration(Math.max(0, at - enqueuedAt))}`;
    case "ended":
      return is === undefined && of === "lock" ? "nothing is recorded of how" : undefined;
    case "reset":
      return `asked by ${reset?.by}${reset?.why === undefined ? "" : `: ${reset.why}`}`;
    default:
      return undefined;
  }
}
