import { newRunId } from "../../base/ids.ts";
import { type Keeper, type Proof, Session } from "../../etcd/session.ts";
import type { Txn } from "../../protocol/txn.ts";
import { type WorkerRecord, workerText } from "../../schedule/worker-record.ts";
import { patiently } from "../observe/ports.ts";
import type { SchedulePorts } from "./ports.ts";

/** How long the end of a session is tried, ms; it expires by itself. */
const REVOKE_WITHIN = 1_000;

/**
 * A worker's presence: a session, and its record under a key on it. Whatever the worker runs stands on the same session. One
 * that was lost is never taken up again; the worker joins anew under another id.
 */
export class Presence implements Keeper {
  /** The worker's id: new with every session, so that nothing in flight of an earlier one can be taken for its own. */
  readonly id: string;
  readonly session: Session;
  readonly #ports: SchedulePorts;
  readonly #key: string;
  readonly #listeners = new Set<() => void>();
  #createRevision = 0n;

  private constructor(ports: SchedulePorts, session: Session) {
    this.#ports = ports;
    this.session = session;
    this.id = newRunId(ports.random);
    this.#key = ports.keys.worker(this.id);
  }

  /**
   * Opens a session and writes the first record.
   * @param ttl  whole seconds
   * @throws StoreError; the signal's reason
   */
  static async join(
    ports: SchedulePorts,
    ttl: number,
    record: () => WorkerRecord,
    signal: AbortSignal,
  ): Promise<Presence> {
    const until = ports.clock.now() + ports.settings.connectTimeout;
    const session = await Session.open(ports, ttl, until, signal);
    const presence = new Presence(ports, session);
    try {
      await presence.#enter(record(), signal);
    } catch (error) {
      session.rest();
      throw error;
    }
    session.keep(presence);
    return presence;
  }

  /** Told whenever the horizon has moved. @returns a function that ends that */
  onExtended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  extended(): void {
    for (const listener of this.#listeners) listener();
  }

  async prove(): Promise<Proof> {
    const { raftTerm, kvs } = await this.#ports.store.range({ key: this.#key }, this.session.signal);
    const stands = kvs[0]?.createRevision === this.#createRevision;
    return { raftTerm, fault: stands ? undefined : "the worker's key was deleted" };
  }

  /** Writes the record again; nothing where it is not there any more. @throws StoreError */
  async publish(record: WorkerRecord): Promise<void> {
    const stands = { key: this.#key, target: "create", is: "equal", value: this.#createRevision } as const;
    const put = { op: "put", key: this.#key, value: workerText(record), keepSession: true } as const;
    const txn: Txn = { compare: [stands], success: [put], failure: [] };
    await patiently(this.#ports, (call) => this.#ports.store.txn(txn, call), this.session.signal);
  }

  /** Ends the session, and what stands on it. */
  async leave(): Promise<void> {
    await this.session.revoke(this.#ports.clock.now() + REVOKE_WITHIN).catch((error) => {
      this.#ports.log.warn("the session was not ended, it expires", { error: String(error) });
    });
  }

  /** A repeated call finds its own record: that is success. */
  async #enter(record: WorkerRecord, signal: AbortSignal): Promise<void> {
    const key = this.#key;
    const put = { op: "put", key, value: workerText(record), session: this.session.id } as const;
    const txn: Txn = {
      compare: [{ key, target: "create", is: "equal", value: 0n }],
      success: [put],
      failure: [{ op: "range", key }],
    };
    const answer = await patiently(this.#ports, (call) => this.#ports.store.txn(txn, call), signal);
    const [own] = answer.results;
    this.#createRevision = (own?.op === "range" ? own.kvs[0]?.createRevision : undefined) ?? answer.revision;
  }
}
