import type { KeyValue } from "./txn.ts";

/** `admitted`: could hold this queue, but waits in another one. `grace`: its command has ended, its place has not. */
export const TICKET_STATES = ["waiting", "admitted", "held", "grace"] as const;
export type TicketState = (typeof TICKET_STATES)[number];

/** A wish of an operator that the holder give up its claim; written into the ticket, answered by the runner. */
export interface ResetRequest {
  by: string;
  /** Wall clock, ms since the epoch. */
  at: number;
  why?: string;
}

/** The value of one key in a queue. */
export interface Ticket {
  run: string;
  host: string;
  pid: number;
  user: string;
  /** Units asked for; 1 on a lock. */
  count: number;
  /** Units there are, as this run computed it when it claimed; 1 on a lock. */
  total: number;
  /** The run states the total itself: it gives up when another is configured. */
  isStated?: true;
  state: TicketState;
  /** Base name of the command; its arguments only where the user asked for that. */
  command: string;
  args?: string[];
  label?: string;
  /** The group that the host must stay in. */
  group?: string;
  /** Wall clocks, ms since the epoch, for display only. */
  enqueuedAt: number;
  grantedAt?: number;
  /** Wall clock, ms since the epoch: when a `grace` ticket may be deleted by anyone. */
  until?: number;
  reset?: ResetRequest;
}

/** A ticket in its queue, as it stood at one revision. `ticket` is undefined where the value is malformed. */
export interface Place {
  key: string;
  run: string;
  ticket: Ticket | undefined;
  createRevision: bigint;
  modRevision: bigint;
  session: bigint;
}

/** A queue in the order of its claims. */
export type Queue = readonly Place[];

const VERSION = 1;

export function ticketText(ticket: Ticket): string {
  return JSON.stringify({ v: VERSION, ...ticket });
}

/** What a key of a queue holds. Never throws: a ticket put by hand may hold anything. */
export function placeOf(kv: KeyValue): Place {
  const run = kv.key.slice(kv.key.lastIndexOf("/") + 1);
  const { key, createRevision, modRevision, session } = kv;
  return { key, run, ticket: parseTicket(kv.value), createRevision, modRevision, session };
}

/** Places ordered by claim. */
export function queueOf(kvs: readonly KeyValue[]): Queue {
  return kvs.map(placeOf).sort(byClaim);
}

/** Order of two places in a queue. */
export function byClaim(a: Place, b: Place): number {
  if (a.createRevision !== b.createRevision) return a.createRevision < b.createRevision ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

/** A ticket, or undefined when the text is not one. Unknown fields pass: a later version may add some. */
export function parseTicket(text: string): Ticket | undefined {
  const value = parseJson(text);
  return isRecord(value) && hasTicketShape(value) ? value : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const isText = (value: unknown): value is string => typeof value === "string" && value.length <= 65_536;
const isUnits = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const isInstant = (value: unknown): boolean => Number.isFinite(value) && Math.abs(value as number) <= 8.64e15;
const optional = (value: unknown, check: (value: unknown) => boolean) => value === undefined || check(value);

function hasTicketShape(value: Record<string, unknown>): value is Record<string, unknown> & Ticket {
  return (
    value.v === VERSION &&
    [value.run, value.host, value.user, value.command].every(isText) &&
    Number.isSafeInteger(value.pid) &&
    isUnits(value.count) &&
    isUnits(value.total) &&
    TICKET_STATES.some((state) => state === value.state) &&
    isInstant(value.enqueuedAt) &&
    optional(value.grantedAt, isInstant) &&
    optional(value.until, isInstant) &&
    optional(value.label, isText) &&
    optional(value.group, isText) &&
    optional(value.isStated, (one) => one === true) &&
    optional(value.args, (args) => Array.isArray(args) && args.every(isText)) &&
    optional(value.reset, isResetRequest)
  );
}

function isResetRequest(value: unknown): boolean {
  return isRecord(value) && isText(value.by) && isInstant(value.at) && optional(value.why, isText);
}
