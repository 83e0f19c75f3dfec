/** Sample locks in each state. Each is named for its state. */
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createDrainKey,
  createKeyValue,
  createTicketKey,
  held,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";

const waiting = { state: "waiting", enqueuedAt: NOW - 5_000 } as const;

export const LOCKS = [
  createTicketKey("lock held", "a", 1, { ...held, label: "nightly" }),
  createTicketKey("lock held", "b", 2, waiting),
  createTicketKey("lock asked", "c", 3, { ...held, reset: { by: "ann@ops", at: NOW, why: "stuck" } }),
  createTicketKey("lock kept", "d", 4, { state: "grace", until: NOW + 9 }),
  createTicketKey("lock turn", "e", 5, { state: "admitted" }),
  createTicketKey("lock next", "f", 6, waiting),
  createTicketKey("lock stopped", "g", 7, waiting),
  createKeyValue(keys.lock("bad", "h".repeat(16)), "{", 8),
  createDrainKey("lock", "stopped", { by: "bob", why: "upgrade" }),
];
