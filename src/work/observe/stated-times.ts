import { parseAuditRecord } from "../../protocol/audit.ts";
import { parsePastRuns } from "../../protocol/history.ts";
import type { Keys } from "../../protocol/keys.ts";
import { parseTicket, type Ticket } from "../../protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../../protocol/txn.ts";
import { parseOutcomes } from "../../schedule/state/outcome.ts";
import { parseRunning } from "../../schedule/state/running-record.ts";

/** Lists the ranges of the keys whose values state when they were written. */
export function listTimedRanges(keys: Keys): Required<KeyRange>[] {
  return [
    keys.histories(),
    keys.audits(),
    keys.getOutcomesRange(),
    keys.runnings(),
    keys.locks(),
    keys.resources(),
  ];
}

/**
 * Returns when the last change of a key was made, as the host that made it states; undefined if its value does not state
 * that. Host records are left out: their times are rounded to five minutes.
 */
export function findStatedTime(keys: Keys, kv: KeyValue): number | undefined {
  const { key, value, createRevision, modRevision } = kv;
  if (keys.parseQueueKey(key) !== undefined) return findTicketTime(kv);
  const parsed = keys.parse(key);
  switch (parsed.kind) {
    case "history":
      return toInstant(parsePastRuns(value)[0]?.endedAt);
    case "outcomes":
      return toInstant(parseOutcomes(value).runs[0]?.endedAt);
    case "audit":
      // The record is written again when the outcome is known.
      return createRevision === modRevision ? toInstant(parseAuditRecord(parsed.name, value)?.at) : undefined;
    case "running": {
      const running = parseRunning(value);
      return createRevision === modRevision && "value" in running
        ? toInstant(running.value.since)
        : undefined;
    }
    default:
      return undefined;
  }
}

function findTicketTime({ value, createRevision, modRevision }: KeyValue): number | undefined {
  const ticket = parseTicket(value);
  return ticket && findLastChange(ticket, createRevision === modRevision);
}

/** @param isNew  the ticket has not changed since its claim */
function findLastChange({ state, reset, grantedAt, enqueuedAt }: Ticket, isNew: boolean): number | undefined {
  if (reset !== undefined) return reset.at;
  if (state === "held") return grantedAt ?? (isNew ? enqueuedAt : undefined);
  return state === "waiting" && isNew ? enqueuedAt : undefined;
}

/** Drops what is not an instant: a key can be written by hand. */
function toInstant(at: number | undefined): number | undefined {
  return at !== undefined && Number.isFinite(at) && at >= 0 && at <= 8.64e15 ? at : undefined;
}
