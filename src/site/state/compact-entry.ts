import type { Millis, WallTime } from "../../core/base/clock.ts";
import { memoize } from "../../core/base/memoize.ts";
import type { RevisionMap } from "../../core/protocol/followed-keys.ts";
import type { QueueEntry, Ticket } from "../../core/protocol/ticket.ts";

/** The fields in which most tickets differ. */
const OWN_FIELDS = ["run", "pid", "enqueuedAt", "grantedAt"] as const;
/** What many tickets have in common: hosts, users, commands and states are few. */
type SharedFields = Omit<Ticket, (typeof OWN_FIELDS)[number]>;

/** More different hosts and sessions than this are not remembered: a client may write any. */
const MAX_REMEMBERED_VALUES = 20_000;
/** Nor more different fields of the tickets of a host. */
const MAX_REMEMBERED_FIELDS = 16;

/**
 * Stores entries in half of the memory of their objects: a site may have a hundred thousand. What tickets have in common is stored once,
 * as is the part of the key before the run, and revisions are numbers. Keys and tickets are built again each time they are asked for.
 */
export class EntryCompactor {
  /** Of a host, the last ones first. */
  readonly #getShared = memoize((_host: string): SharedFields[] => [], MAX_REMEMBERED_VALUES);
  readonly #shareSession = memoize((session: bigint) => session, MAX_REMEMBERED_VALUES);
  /** That of the last key: in a read, the keys of a queue follow each other. */
  #folder = "";

  /** Returns an entry with the same contents. One that is rare or malformed stays as it is. */
  compact(entry: QueueEntry): QueueEntry {
    const { key, run, ticket, vanished, modRevision } = entry;
    if (ticket === undefined || vanished !== undefined || ticket.run !== run || !key.endsWith(`/${run}`))
      return entry;
    if (!Number.isSafeInteger(Number(modRevision)) || !hasWholeTimes(ticket)) return entry;
    const folder = key.slice(0, key.length - run.length);
    if (folder !== this.#folder) this.#folder = folder;
    const shared = {
      folder: this.#folder,
      fields: this.#shareFields(ticket),
      session: this.#shareSession(entry.session),
    };
    return new CompactEntry(entry, ticket, shared);
  }

  #shareFields(ticket: Ticket): SharedFields {
    const known = this.#getShared(ticket.host);
    const same = known.find((fields) => hasFields(ticket, fields));
    if (same !== undefined) return same;
    const { run: _, pid: __, enqueuedAt: ___, grantedAt: ____, ...fields } = ticket;
    known.unshift(fields);
    known.splice(MAX_REMEMBERED_FIELDS);
    return fields;
  }
}

/** Another program may have written parts of a ms, which would not survive a subtraction. */
function hasWholeTimes({ enqueuedAt, grantedAt = 0 }: Ticket): boolean {
  return Number.isSafeInteger(enqueuedAt) && Number.isSafeInteger(grantedAt);
}

/** Returns whether a ticket has these fields and, besides its own, no others. Lists and objects are never the same. */
function hasFields(ticket: Ticket, fields: SharedFields): boolean {
  const [all, shared] = [ticket, fields] as unknown as Readonly<Record<string, unknown>>[];
  for (const name in all) if (all[name] !== shared?.[name] && !isOwn(name)) return false;
  for (const name in shared) if (!(name in ticket)) return false;
  return true;
}

function isOwn(name: string): boolean {
  return OWN_FIELDS.some((own) => own === name);
}

/** What entries have in common. */
interface SharedParts {
  /** The key up to the run. */
  folder: string;
  fields: SharedFields;
  session: bigint;
}

/** Times are stored as ms since this one: V8 stores numbers below 2^31 without an object of their own. */
const TIME_ORIGIN: WallTime = Date.now();

class CompactEntry implements QueueEntry {
  readonly run: string;
  readonly session: bigint;
  readonly #folder: string;
  readonly #fields: SharedFields;
  readonly #pid: number;
  readonly #enqueuedAfter: Millis;
  readonly #grantedAfter: Millis | undefined;
  readonly #created: number;
  readonly #modified: number;

  constructor(
    { createRevision, modRevision }: QueueEntry,
    { run, pid, enqueuedAt, grantedAt }: Ticket,
    { folder, fields, session }: SharedParts,
  ) {
    this.run = run; // not that of the entry: it is a part of the text of the key, which would stay too
    this.session = session;
    this.#folder = folder;
    this.#fields = fields;
    this.#pid = pid;
    this.#enqueuedAfter = enqueuedAt - TIME_ORIGIN;
    this.#grantedAfter = grantedAt === undefined ? undefined : grantedAt - TIME_ORIGIN;
    this.#created = Number(createRevision);
    this.#modified = Number(modRevision);
  }

  get key(): string {
    return this.#folder + this.run;
  }

  get createRevision(): bigint {
    return BigInt(this.#created);
  }

  get modRevision(): bigint {
    return BigInt(this.#modified);
  }

  get ticket(): Ticket {
    const enqueuedAt = TIME_ORIGIN + this.#enqueuedAfter;
    const ticket: Ticket = { ...this.#fields, run: this.run, pid: this.#pid, enqueuedAt };
    if (this.#grantedAfter !== undefined) ticket.grantedAt = TIME_ORIGIN + this.#grantedAfter;
    return ticket;
  }
}

/** The revisions of keys. Those of queues are in their entries, which are found by the run: a hundred thousand more keys would need 10 MB. */
export class EntryRevisions implements RevisionMap {
  readonly #others = new Map<string, bigint>();
  readonly #entries = new Map<string, QueueEntry | readonly QueueEntry[]>();
  #entryCount = 0;

  get size(): number {
    return this.#others.size + this.#entryCount;
  }

  get(key: string): bigint | undefined {
    return this.#others.get(key) ?? this.#findEntry(key)?.modRevision;
  }

  #findEntry(key: string): QueueEntry | undefined {
    const kept = this.#entries.get(getRunOfKey(key));
    return kept && toList(kept).find((entry) => entry.key === key);
  }

  set(key: string, revision: bigint): void {
    this.#others.set(key, revision);
  }

  /** Adds an entry whose revision was set, or replaces it. */
  setEntry(entry: QueueEntry): void {
    const { key, run } = entry;
    this.#others.delete(key);
    const kept = this.#entries.get(run);
    const others = kept === undefined ? [] : toList(kept).filter((one) => one.key !== key);
    this.#entryCount += 1 + others.length - (kept === undefined ? 0 : toList(kept).length);
    this.#entries.set(run, others.length === 0 ? entry : [...others, entry]);
  }

  delete(key: string): void {
    this.#others.delete(key);
    const run = getRunOfKey(key);
    const kept = this.#entries.get(run);
    if (kept === undefined) return;
    const left = toList(kept).filter((entry) => entry.key !== key);
    this.#entryCount -= toList(kept).length - left.length;
    if (left.length === 0) this.#entries.delete(run);
    else this.#entries.set(run, left);
  }

  *keys(): Generator<string, undefined> {
    yield* this.#others.keys();
    for (const kept of this.#entries.values()) for (const { key } of toList(kept)) yield key;
  }
}

/** Marks have the run after a `~`. */
function getRunOfKey(key: string): string {
  const id = key.slice(key.lastIndexOf("/") + 1);
  return id.startsWith("~") ? id.slice(1) : id;
}

function toList(kept: QueueEntry | readonly QueueEntry[]): readonly QueueEntry[] {
  return "run" in kept ? [kept] : kept;
}
