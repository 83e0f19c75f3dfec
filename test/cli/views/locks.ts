/** Sample locks in each state. Each is named for its state. */
import { keys } from "../../core/protocol/samples.ts";
import { drainOf, held, NOW, plain, stand } from "../../site/state/pictures.ts";

const waiting = { state: "waiting", enqueuedAt: NOW - 5_000 } as const;

export const LOCKS = [
  stand("lock held", "a", 1, { ...held, label: "nightly" }),
  stand("lock held", "b", 2, waiting),
  stand("lock asked", "c", 3, { ...held, reset: { by: "ann@ops", at: NOW, why: "stuck" } }),
  stand("lock kept", "d", 4, { state: "grace", until: NOW + 9 }),
  stand("lock turn", "e", 5, { state: "admitted" }),
  stand("lock next", "f", 6, waiting),
  stand("lock stopped", "g", 7, waiting),
  plain(keys.lock("bad", "h".repeat(16)), "{", 8),
  drainOf("lock", "stopped", { by: "bob", why: "upgrade" }),
];
