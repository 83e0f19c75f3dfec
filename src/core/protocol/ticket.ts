import type { Seconds, WallTime } from "../base/clock.ts";
import { isJsonObject, parseJson } from "../base/parse-json.ts";
import type { KeyValue } from "./txn.ts";

/**
 * `admitted`: could hold this queue, but still waits in another queue. `grace`: its command has ended, but the ticket
 * stays in the queue.
 */
export const TICKET_STATES = ["waiting", "admitted", "held", "grace"] as const;
export type TicketState = (typeof TICKET_STATES)[number];

/**
 * An operator's request that the holder give up its claim. It is written into the ticket, and the runner responds to
 * it.
 */
export interface ResetRequest {
  by: string;
  /** Wall clock, ms since the epoch. */
  at: WallTime;
  why?: string;
}

/** The value of one key in a queue. */
export interface Ticket {
  run: string;
  host: string;
  pid: number;
  user: string;
  /** Units requested; 1 for a lock. */
  count: number;
  /** Total units, as this run computed them when it made its claim; 1 for a lock. */
  total: number;
  /** The run states the total itself. It gives up if a different total is configured. */
  isStated?: true;
  /** Shares the lock: the run may hold it together with other runs that share it, but never with one that does not. */
  shared?: true;
  state: TicketState;
  /** Base name of the command. The arguments are included only if the user enabled that. */
  command: string;
  args?: string[];
  label?: string;
  /** The group that the host must stay a member of. */
  group?: string;
  /** The call of a launcher, whose attempts several processes may make, and the number of this attempt. */
  call?: string;
  attempt?: number;
  /** For display only. */
  enqueuedAt: WallTime;
  grantedAt?: WallTime;
  /** After this, any client may delete a `grace` ticket. */
  until?: WallTime;
  reset?: ResetRequest;
}

/**
 * The value of the key beside a held ticket, on no session. etcd can revoke a session that was renewed: a leader that was
 * paused and continues acts on its own clock (etcd #12528, #15247). The mark then keeps the claim until its command is dead:
 * until the run deletes the mark, or the time to live has passed. The other fields are those of the ticket.
 */
export interface Mark extends Omit<Ticket, "args" | "reset"> {
  /** Time to live of the session, s. The run never relies on a longer one. */
  ttl: Seconds;
  /**
   * The raft term in which the session was granted, decimal. No earlier leader knows the session, and the leader of this
   * term has counted its time correctly. Undefined if it is not certain.
   */
  term?: string;
  /** The `create_revision` of the ticket, decimal; undefined if it is that of the mark. */
  place?: string;
}

/** A ticket in its queue at one revision. `ticket` is undefined if the value is malformed. */
export interface QueueEntry {
  key: string;
  run: string;
  ticket: Ticket | undefined;
  createRevision: bigint;
  modRevision: bigint;
  session: bigint;
  /**
   * Set if the ticket has vanished and only its mark is left: `key` and `modRevision` are those of the mark, `ticket`
   * is what the mark states. It counts as held.
   */
  vanished?: MarkedSession;
}

/** The session of a claim, as its marks state it. */
export interface MarkedSession {
  /** Time to live, s. */
  ttl: Seconds;
  /** The raft term in which it was granted; undefined if it is not certain. */
  term: bigint | undefined;
}

/** A queue, in the order of the claims. */
export type Queue = readonly QueueEntry[];

const TICKET_VERSION = 1;

export function serializeTicket(ticket: Ticket): string {
  return JSON.stringify({ v: TICKET_VERSION, ...ticket });
}

/** Converts a key of a queue to a queue entry. Never throws: a key written by hand may have any value. */
export function toQueueEntry(kv: KeyValue): QueueEntry {
  const id = kv.key.slice(kv.key.lastIndexOf("/") + 1);
  const { key, createRevision, modRevision, session } = kv;
  const ticket = parseTicket(kv.value);
  const entry = { key, run: id, ticket, createRevision, modRevision, session };
  if (!id.startsWith("~")) return entry;
  const { ttl, term, place } = (ticket ?? {}) as Partial<Mark>;
  const run = id.slice(1);
  if (ticket === undefined || !isUnits(ttl) || ticket.run !== run)
    return { ...entry, run, ticket: undefined };
  return {
    ...entry,
    run,
    createRevision: parseRevision(place) ?? createRevision,
    vanished: { ttl: ttl as number, term: parseRevision(term) },
  };
}

/** Parses a revision or a raft term. */
export function parseRevision(text: unknown): bigint | undefined {
  return typeof text === "string" && /^[1-9]\d{0,18}$/.test(text) ? BigInt(text) : undefined;
}

/**
 * Converts all keys of queues, read at one revision, to queue entries, in the order of the claims. A mark is an entry only
 * if its ticket has vanished.
 */
export function toQueue(kvs: readonly KeyValue[]): Queue {
  return dropAccompaniedMarks(kvs.map(toQueueEntry)).sort(compareByClaim);
}

/** Returns the entries of queues without the marks whose tickets are among them. */
export function dropAccompaniedMarks(entries: readonly QueueEntry[]): QueueEntry[] {
  const tickets = new Set(entries.flatMap((entry) => (isMark(entry) ? [] : [entry.key])));
  return entries.filter((entry) => !isMark(entry) || !tickets.has(getTicketKey(entry.key)));
}

/** Whether an entry is that of a mark. */
export function isMark({ key, run }: Pick<QueueEntry, "key" | "run">): boolean {
  return key.endsWith(`/~${run}`);
}

/** Returns the key of the ticket that a mark belongs to. */
export function getTicketKey(markKey: string): string {
  const at = markKey.lastIndexOf("/~");
  return `${markKey.slice(0, at)}/${markKey.slice(at + 2)}`;
}

/** Explains a vanished ticket, and when its claim is free. */
export function describeVanished({ ttl }: MarkedSession): string {
  return `its session ended before its time; free in at most ${ttl} s`;
}

export function compareByClaim(a: QueueEntry, b: QueueEntry): number {
  if (a.createRevision !== b.createRevision) return a.createRevision < b.createRevision ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

/**
 * Parses a ticket. Returns undefined if the text is not a valid ticket. Accepts unknown fields, which a later version
 * may add.
 */
export function parseTicket(text: string): Ticket | undefined {
  const value = parseJson(text);
  return isJsonObject(value) && hasTicketShape(value) ? value : undefined;
}

const isText = (value: unknown): value is string => typeof value === "string" && value.length <= 65_536;
const isUnits = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const isInstant = (value: unknown): boolean => Number.isFinite(value) && Math.abs(value as number) <= 8.64e15;
const isTrue = (value: unknown): boolean => value === true;
const isOptional = (value: unknown, check: (value: unknown) => boolean) =>
  value === undefined || check(value);

function hasTicketShape(value: Record<string, unknown>): value is Record<string, unknown> & Ticket {
  return (
    value.v === TICKET_VERSION &&
    [value.run, value.host, value.user, value.command].every(isText) &&
    Number.isSafeInteger(value.pid) &&
    isUnits(value.count) &&
    isUnits(value.total) &&
    TICKET_STATES.some((state) => state === value.state) &&
    isInstant(value.enqueuedAt) &&
    isOptional(value.grantedAt, isInstant) &&
    isOptional(value.until, isInstant) &&
    isOptional(value.label, isText) &&
    isOptional(value.group, isText) &&
    isOptional(value.call, isText) &&
    isOptional(value.attempt, isUnits) &&
    isOptional(value.isStated, isTrue) &&
    isOptional(value.shared, isTrue) &&
    isOptional(value.args, (args) => Array.isArray(args) && args.every(isText)) &&
    isOptional(value.reset, isResetRequest)
  );
}

function isResetRequest(value: unknown): boolean {
  return isJsonObject(value) && isText(value.by) && isInstant(value.at) && isOptional(value.why, isText);
}

/** Formats the name of a lock, and that a run shares it: `docs (shared)`. */
export function formatLockName(name: string, run: { shared?: boolean } | undefined): string {
  return run?.shared ? `${name} (shared)` : name;
}
