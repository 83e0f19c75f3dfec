import { addMs, type Clock, type Millis, type MonotonicTime } from "../../base/clock.ts";
import { generateSessionId } from "../../base/ids.ts";
import type { Random } from "../../base/random.ts";
import { retryUnavailable, type Store } from "../store.ts";
import { grantOnce } from "./session.ts";

/** Default for how long one session is used for new keys, ms. */
const USED_FOR = 60_000;

/** A session that is not renewed. New keys are put on it until `until`. */
export interface ExpirySession {
  readonly id: Promise<bigint>;
  readonly until: MonotonicTime;
}

interface ExpiryPorts {
  store: Store;
  clock: Clock;
  random: Random;
  settings: { connectTimeout: Millis };
}

/**
 * Sessions for keys that expire by themselves. Keys that are written at about the same time and expire after the same
 * time share one.
 */
export class ExpirySessions {
  readonly #ports: ExpiryPorts;
  readonly #usedFor: Millis;
  readonly #current = new Map<Millis, ExpirySession>();

  /** @param usedFor  how long one session is used for new keys. Default: a minute */
  constructor(ports: ExpiryPorts, usedFor: Millis = USED_FOR) {
    this.#ports = ports;
    this.#usedFor = usedFor;
  }

  /**
   * Returns the session for a key that is written now. Its id rejects with a StoreError if it cannot be granted.
   * @param keptFor  minimum time for which the key is kept
   */
  choose(keptFor: Millis): ExpirySession {
    const now = this.#ports.clock.now();
    let session = this.#current.get(keptFor);
    if (session === undefined || session.until <= now) {
      session = { id: this.#grant(now, keptFor), until: addMs(now, this.#usedFor) };
      this.#current.set(keptFor, session);
      session.id.catch(() => this.#current.delete(keptFor));
    }
    return session;
  }

  /** Stops using a session that has ended early. */
  drop(keptFor: Millis): void {
    this.#current.delete(keptFor);
  }

  async #grant(now: MonotonicTime, keptFor: Millis): Promise<bigint> {
    const { store, random, settings } = this.#ports;
    const id = generateSessionId(random);
    const ttl = Math.ceil((keptFor + this.#usedFor) / 1_000);
    await retryUnavailable(this.#ports, addMs(now, settings.connectTimeout), (signal) =>
      grantOnce(store, id, ttl, signal),
    );
    return id;
  }
}
