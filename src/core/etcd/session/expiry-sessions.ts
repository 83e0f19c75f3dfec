import type { Clock } from "../../base/clock.ts";
import { generateSessionId } from "../../base/ids.ts";
import type { Random } from "../../base/random.ts";
import { retryUnavailable } from "../retry.ts";
import type { Store } from "../store.ts";
import { grantOnce } from "./session.ts";

/** Default for how long one session is used for new keys, ms. */
const USED_FOR = 60_000;

/** A session that is not renewed. New keys are put on it until `until`, an instant on the clock, ms. */
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

/**
 * Sessions for keys that expire by themselves. Keys that are written at about the same time and expire after the same
 * time share one.
 */
export class ExpirySessions {
  readonly #ports: ExpiryPorts;
  readonly #usedFor: number;
  readonly #current = new Map<number, ExpirySession>();

  /** @param usedFor  how long one session is used for new keys, ms. Default: a minute */
  constructor(ports: ExpiryPorts, usedFor = USED_FOR) {
    this.#ports = ports;
    this.#usedFor = usedFor;
  }

  /**
   * Returns the session for a key that is written now. Its id rejects with a StoreError if it cannot be granted.
   * @param keptFor  minimum time for which the key is kept, ms
   */
  choose(keptFor: number): ExpirySession {
    const now = this.#ports.clock.now();
    let session = this.#current.get(keptFor);
    if (session === undefined || session.until <= now) {
      session = { id: this.#grant(now, keptFor), until: now + this.#usedFor };
      this.#current.set(keptFor, session);
      session.id.catch(() => this.#current.delete(keptFor));
    }
    return session;
  }

  /** Stops using a session that has ended early. */
  drop(keptFor: number): void {
    this.#current.delete(keptFor);
  }

  async #grant(now: number, keptFor: number): Promise<bigint> {
    const { store, random, settings } = this.#ports;
    const id = generateSessionId(random);
    const ttl = Math.ceil((keptFor + this.#usedFor) / 1_000);
    await retryUnavailable(this.#ports, now + settings.connectTimeout, (signal) =>
      grantOnce(store, id, ttl, signal),
    );
    return id;
  }
}
