import type { Clock } from "../../base/clock.ts";
import { generateSessionId } from "../../base/ids.ts";
import type { Random } from "../../base/random.ts";
import { retryUnavailable } from "../retry.ts";
import type { Store } from "../store.ts";
import { grantOnce } from "./grant.ts";

/** How long one session is used for new keys, ms. */
const USED_FOR = 60_000;

/** A session that nobody renews, and until when it is used, by the clock, ms. */
export interface ExpirySession {
  readonly id: Promise<bigint>;
  readonly until: number;
}

interface ExpiryPorts {
  store: Store;
  clock: Clock;
  random: Random;
  settings: { connectTimeout: number };
}

/** Sessions for keys that expire by themselves. The keys of a minute share one. */
export class ExpirySessions {
  readonly #ports: ExpiryPorts;
  readonly #ttl: number;
  #current: ExpirySession | undefined;

  /** @param keptFor  how long a key stays at least, ms */
  constructor(ports: ExpiryPorts, keptFor: number) {
    this.#ports = ports;
    this.#ttl = Math.ceil((keptFor + USED_FOR) / 1_000);
  }

  /** Returns the session for a key that is written now. Its id rejects with a StoreError if it cannot be granted. */
  choose(): ExpirySession {
    const now = this.#ports.clock.now();
    if (this.#current === undefined || this.#current.until <= now)
      this.#current = { id: this.#grant(now), until: now + USED_FOR };
    return this.#current;
  }

  /** Stops using a session that could not be granted, or has ended before its time. */
  drop(session: ExpirySession): void {
    if (this.#current === session) this.#current = undefined;
  }

  async #grant(now: number): Promise<bigint> {
    const { store, random, settings } = this.#ports;
    const id = generateSessionId(random);
    await retryUnavailable(this.#ports, now + settings.connectTimeout, (signal) =>
      grantOnce(store, id, this.#ttl, signal),
    );
    return id;
  }
}
