import { findNameFault } from "../../../base/text.ts";
import { retryUnavailable } from "../../../etcd/retry.ts";
import { StoreError } from "../../../etcd/store.ts";
import { addPutIfChanged } from "../../../protocol/guards.ts";
import type { Txn, TxnResponse } from "../../../protocol/txn.ts";
import type { ClaimPorts, ClaimRequest } from "../request.ts";

type HostRecordPorts = Pick<ClaimPorts, "store" | "keys" | "clock" | "random" | "log" | "describeHost">;

/** How long to retry writing the record in a separate call, in ms. */
const WITHIN = 1_000;
const NOTHING: Txn = { compare: [], success: [], failure: [] };

/**
 * Writes the record of this host to `hosts/<fqdn>` for others to read. The write is part of the claim transaction,
 * granted or not, so it costs no extra call and no extra entry in etcd's log. Failures never stop the run.
 */
export class HostRecordWriter {
  readonly #ports: HostRecordPorts;
  /** Undefined when the host name cannot be a key. */
  readonly #key: string | undefined;
  /** `there`: this attempt need not write the record again. `barred`: the role may not write it. */
  #state: "unknown" | "outdated" | "there" | "barred" = "unknown";

  constructor(ports: HostRecordPorts, { identity: { host } }: Pick<ClaimRequest, "identity">) {
    this.#ports = ports;
    const isKept = ports.describeHost !== undefined && findNameFault(host) === undefined;
    this.#key = isKept ? ports.keys.host(host) : undefined;
  }

  /** The key of the record, to read together with the view; undefined when the record need not be read any more. */
  get keyToRead(): string | undefined {
    return this.#state === "unknown" ? this.#key : undefined;
  }

  /** Compares the stored record with the current one. */
  compareRecord(text: string | undefined): void {
    if (this.#state === "unknown") this.#state = text === this.#renderRecord() ? "there" : "outdated";
  }

  /**
   * Sends a transaction with the record added. Roles of earlier versions may not write hosts: etcd then rejects the
   * whole transaction before it applies any part, and the call is repeated without the record.
   */
  async callWithRecord(
    txn: Txn,
    call: (txn: Txn) => Promise<TxnResponse | undefined>,
  ): Promise<TxnResponse | undefined> {
    if (this.#key === undefined || this.#state === "barred") return await call(txn);
    try {
      const answer = await call(addPutIfChanged(txn, this.#key, this.#renderRecord()));
      if (answer !== undefined) this.#state = "there";
      return answer;
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== "permission") throw error;
      this.#state = "barred";
      const answer = await call(txn); // if it is rejected again, the record was not the cause
      this.#ports.log.info("the role may not write the host record; see: signalbox init");
      return answer;
    }
  }

  /**
   * Writes the record in a separate call, for an attempt that ended without a claim and found an outdated record. Such
   * an attempt has already written a session for nothing, so an occasional extra write is acceptable. Never rejects.
   */
  async writeOutdated(): Promise<void> {
    const key = this.#key;
    if (key === undefined || this.#state !== "outdated") return;
    const { clock, store, log } = this.#ports;
    const txn = addPutIfChanged(NOTHING, key, this.#renderRecord());
    await retryUnavailable(this.#ports, clock.now() + WITHIN, (signal) => store.commitTxn(txn, signal)).catch(
      (error) => {
        log.info("cannot write the host record", { error: String(error) });
      },
    );
  }

  #renderRecord(): string {
    return this.#ports.describeHost?.(this.#ports.clock.getWallTime()) ?? "";
  }
}
