import type { QueueEntry, Ticket } from "../../protocol/ticket.ts";

/** More different texts than this are not remembered: a client may write any. */
const MOST = 20_000;

/**
 * Stores equal texts of tickets once. Each parsed value has its own copies, and a hundred thousand tickets of a few hosts and
 * commands would need twice the memory.
 */
export class SharedTexts {
  readonly #texts = new Map<string, string>();

  /** Replaces the texts of an entry that many entries have in common. */
  share(entry: QueueEntry): QueueEntry {
    const { run, ticket } = entry;
    if (ticket === undefined) return entry;
    this.#shareFields(ticket);
    // The id from the key would keep the whole key alive a second time.
    return run === ticket.run ? { ...entry, run: ticket.run } : entry;
  }

  #shareFields(ticket: Ticket): void {
    ticket.host = this.#find(ticket.host);
    ticket.user = this.#find(ticket.user);
    ticket.command = this.#find(ticket.command);
    ticket.state = this.#find(ticket.state) as Ticket["state"];
  }

  #find(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size >= MOST) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}
