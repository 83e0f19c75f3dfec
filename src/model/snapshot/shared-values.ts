import type { QueueEntry, Ticket } from "../../protocol/ticket.ts";

/** More different values than this are not remembered: a client may write any. */
const MOST = 20_000;

/**
 * Stores equal values of tickets once. Each parsed ticket has its own copies, and a hundred thousand tickets of a few hosts and
 * commands would need twice the memory.
 */
export class SharedValues {
  readonly #texts = new Map<string, string>();
  readonly #sessions = new Map<bigint, bigint>();

  /** Replaces the values of an entry that many entries, or several fields, have in common. */
  share(entry: QueueEntry): QueueEntry {
    const { key, run, ticket, createRevision, modRevision } = entry;
    if (ticket !== undefined) this.#shareFields(ticket);
    const shared: QueueEntry = {
      key,
      ticket,
      createRevision,
      // The id from the key is a part of its text, with a header of its own.
      run: run === ticket?.run ? ticket.run : run,
      modRevision: modRevision === createRevision ? createRevision : modRevision,
      session: find(this.#sessions, entry.session),
    };
    if (entry.vanished !== undefined) shared.vanished = entry.vanished;
    return shared;
  }

  #shareFields(ticket: Ticket): void {
    ticket.host = find(this.#texts, ticket.host);
    ticket.user = find(this.#texts, ticket.user);
    ticket.command = find(this.#texts, ticket.command);
    ticket.state = find(this.#texts, ticket.state) as Ticket["state"];
  }
}

/** Returns the known value that equals this one, and remembers it. */
function find<T>(known: Map<T, T>, value: T): T {
  const shared = known.get(value);
  if (shared !== undefined) return shared;
  if (known.size >= MOST) known.clear();
  known.set(value, value);
  return value;
}
