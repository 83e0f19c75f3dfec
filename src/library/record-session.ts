import { generateSessionId } from "../base/ids.ts";
import { retryUnavailable } from "../etcd/retry.ts";
import { grantOnce } from "../etcd/session/grant.ts";
import { StoreError } from "../etcd/store.ts";
import type { OperatorPorts } from "../work/operate/ports.ts";

/** How long the audit records of jobs stay, s. It must be much longer than a call takes that has lost its answer. */
const TTL = 900;
/** How long one session is used for new records, ms: so one expiry does not delete too many. */
const USED_FOR = 60_000;

/**
 * A session with which the audit records of jobs expire. There is a record for each job, and nobody reads it later: the outcome tells
 * what a job has done. But it must exist for a while. A call that lost its answer finds out by it that it was applied, also if the job
 * has been done and removed meanwhile; otherwise the repeated call would add the job again.
 */
export class RecordSession {
  readonly #ports: OperatorPorts;
  #current: { id: Promise<bigint>; until: number } | undefined;

  constructor(ports: OperatorPorts) {
    this.#ports = ports;
  }

  /** Runs a call with a session that lives much longer than the call. @throws StoreError, what the call throws */
  async use<T>(call: (session: bigint) => Promise<T>): Promise<T> {
    const now = this.#ports.clock.now();
    if (this.#current === undefined || this.#current.until <= now)
      this.#current = { id: this.#grant(), until: now + USED_FOR };
    const current = this.#current;
    try {
      return await call(await current.id);
    } catch (error) {
      // The session could not be granted, or has ended before its time.
      if (error instanceof StoreError && this.#current === current) this.#current = undefined;
      throw error;
    }
  }

  async #grant(): Promise<bigint> {
    const { store, clock, random, settings } = this.#ports;
    const id = generateSessionId(random);
    const until = clock.now() + settings.connectTimeout;
    await retryUnavailable(this.#ports, until, (signal) => grantOnce(store, id, TTL, signal));
    return id;
  }
}
