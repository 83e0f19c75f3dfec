import { addMs, DAY_MS, type Seconds } from "../../core/base/clock.ts";
import { generateRunId } from "../../core/base/ids.ts";
import { ExpirySessions } from "../../core/etcd/session/expiry-sessions.ts";
import {
  isSessionGone,
  Session,
  type SessionOwner,
  type SessionProof,
} from "../../core/etcd/session/session.ts";
import { StoreError } from "../../core/etcd/store.ts";
import { guardRevision } from "../../core/protocol/guards.ts";
import { checkSchema, getNewerSchemaRange, guardSchema } from "../../core/protocol/schema.ts";
import { findFirstKey, listKeys, type Txn } from "../../core/protocol/txn.ts";
import { formatWorker, type WorkerRecord } from "../../schedule/state/running-record.ts";
import { commitWithRetries } from "../../site/observe/ports.ts";
import type { SchedulePorts } from "../worker-ports.ts";

/** Time limit for revoking the session, ms. It expires by itself otherwise. */
const REVOKE_WITHIN = 1_000;
/** How many sessions in a row may be gone before their first use. */
const MOST_SESSIONS = 5;

/**
 * Registration of a worker: a session, and a record under a key with that session. The running keys of the worker use
 * the same session. A lost session is never resumed; the worker joins again under another id.
 */
export class WorkerRegistration implements SessionOwner {
  /** Id of the worker. New with every session, so that requests of an earlier session cannot be taken for its own. */
  readonly id: string;
  readonly session: Session;
  /** Aborted when the session is lost, and when the worker leaves: nothing is to be claimed or looked for any more. */
  readonly signal: AbortSignal;
  readonly #ports: SchedulePorts;
  readonly #key: string;
  readonly #leaving = new AbortController();
  readonly #listeners = new Set<() => void>();
  /** For outcomes that outlive their schedules. */
  readonly expiry: ExpirySessions;
  readonly checkpointExpiry: ExpirySessions;
  #createRevision = 0n;

  private constructor(ports: SchedulePorts, session: Session) {
    this.#ports = ports;
    this.session = session;
    this.signal = AbortSignal.any([session.signal, this.#leaving.signal]);
    this.expiry = new ExpirySessions(ports);
    this.checkpointExpiry = new ExpirySessions(ports, DAY_MS); // a task may save many, and sessions cost memory in etcd
    this.id = generateRunId(ports.random);
    this.#key = ports.keys.worker(this.id);
  }

  /**
   * Opens a session and writes the first record; on a slow machine or etcd, the session may have expired before that, and another one
   * is opened.
   * @param ttl  whole seconds
   * @throws ConfigError when this program is too old to write; StoreError; the signal's reason
   */
  static async join(
    ports: SchedulePorts,
    ttl: Seconds,
    record: () => WorkerRecord,
    signal: AbortSignal,
  ): Promise<WorkerRegistration> {
    for (let count = 0; count < MOST_SESSIONS; count += 1) {
      const until = addMs(ports.clock.now(), ports.settings.connectTimeout);
      const session = await Session.open(ports, ttl, until, signal);
      const presence = new WorkerRegistration(ports, session);
      try {
        await presence.#writeFirstRecord(record(), signal);
        session.keepAlive(presence);
        return presence;
      } catch (error) {
        session.stopRenewing();
        if (!isSessionGone(error)) throw error;
      }
    }
    const what = `${MOST_SESSIONS} sessions of ${ttl} s expired before their first use`;
    throw new StoreError("unavailable", `etcd answers too slowly: ${what}`);
  }

  /**
   * Calls the listener whenever the horizon moves.
   * @returns a function that removes the listener
   */
  onExtended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onHorizonMoved(): void {
    for (const listener of this.#listeners) listener();
  }

  async prove(): Promise<SessionProof> {
    const { raftTerm, kvs } = await this.#ports.store.readRange({ key: this.#key }, this.session.signal);
    const stands = kvs[0]?.createRevision === this.#createRevision;
    return { raftTerm, fault: stands ? undefined : "the worker's key was deleted" };
  }

  /**
   * Writes the record again; does nothing if the key was deleted.
   * @throws StoreError
   */
  async publish(record: WorkerRecord): Promise<void> {
    const stands = { key: this.#key, target: "create", is: "equal", value: this.#createRevision } as const;
    const put = { op: "put", key: this.#key, value: formatWorker(record), keepSession: true } as const;
    const txn: Txn = { compare: [stands], success: [put], failure: [] };
    await commitWithRetries(this.#ports, txn, this.session.signal);
  }

  /** Ends the session, which deletes its keys. */
  async leave(): Promise<void> {
    this.#leaving.abort(new Error("the worker has left"));
    await this.session.end(addMs(this.#ports.clock.now(), REVOKE_WITHIN)).catch((error) => {
      this.#ports.log.warn("the session was not ended, it expires", { error: String(error) });
    });
  }

  /** Writes the first record. A retry that finds its own record counts as success. */
  async #writeFirstRecord(record: WorkerRecord, signal: AbortSignal): Promise<void> {
    const key = this.#key;
    const { keys } = this.#ports;
    const put = { op: "put", key, value: formatWorker(record), session: this.session.id } as const;
    const txn: Txn = {
      compare: [guardRevision(key, 0n), guardSchema(keys)],
      success: [put],
      failure: [
        { op: "range", key },
        { op: "range", ...getNewerSchemaRange(keys), keysOnly: true },
      ],
    };
    const answer = await commitWithRetries(this.#ports, txn, signal);
    const own = findFirstKey(answer.results[0]);
    if (own === undefined) checkSchema(keys, listKeys(answer.results[1]));
    this.#createRevision = own?.createRevision ?? answer.revision;
  }
}
