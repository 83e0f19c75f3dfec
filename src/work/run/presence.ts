import { nameFault } from "../../base/text.ts";
import { persist } from "../../etcd/persist.ts";
import { StoreError } from "../../etcd/store.ts";
import { noting } from "../../protocol/guards.ts";
import type { Txn, TxnAnswer } from "../../protocol/txn.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";

type PresencePorts = Pick<ClaimPorts, "store" | "keys" | "clock" | "random" | "log" | "describeHost">;

/** How long a word on its own is tried, in ms. */
const WITHIN = 1_000;
const NOTHING: Txn = { compare: [], success: [], failure: [] };

/**
 * Leaves word of this host for whoever looks, under `hosts/<fqdn>`. It goes along with the claim, granted or not, and so
 * costs no call and no entry of etcd's log. Whatever comes in its way, the run goes on.
 */
export class Presence {
  readonly #ports: PresencePorts;
  /** Undefined where there is nowhere to leave it: the name can be no key. */
  readonly #key: string | undefined;
  /** `there`: it need not be said again by this attempt; `barred`: this role may not. */
  #word: "unknown" | "outdated" | "there" | "barred" = "unknown";

  constructor(ports: PresencePorts, { identity: { host } }: Pick<ClaimRequest, "identity">) {
    this.#ports = ports;
    this.#key = nameFault(host) === undefined ? ports.keys.host(host) : undefined;
  }

  /** Where a look may find the record; undefined where that is of no interest any more. */
  get asks(): string | undefined {
    return this.#word === "unknown" ? this.#key : undefined;
  }

  /** Told what a look found there. */
  saw(text: string | undefined): void {
    if (this.#word === "unknown") this.#word = text === this.#text() ? "there" : "outdated";
  }

  /**
   * Makes a call with the word in its transaction. Roles of earlier versions may not write hosts: etcd then refuses the
   * whole, before any of it is applied, and the same call is made without.
   */
  async along(txn: Txn, call: (txn: Txn) => Promise<TxnAnswer | undefined>): Promise<TxnAnswer | undefined> {
    if (this.#key === undefined || this.#word === "barred") return await call(txn);
    try {
      const answer = await call(noting(txn, this.#key, this.#text()));
      if (answer !== undefined) this.#word = "there";
      return answer;
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== "permission") throw error;
      this.#word = "barred";
      const answer = await call(txn); // refused again, it was not for the word
      this.#ports.log.info("the role may not write what this host says of itself; see: signalbox init");
      return answer;
    }
  }

  /**
   * For an attempt that left without a claim: its session was written for nothing, so now and then, when what it saw is
   * outdated, this is worth a call. Never rejects.
   */
  async afterwards(): Promise<void> {
    const key = this.#key;
    if (key === undefined || this.#word !== "outdated") return;
    const { clock, store, log } = this.#ports;
    const txn = noting(NOTHING, key, this.#text());
    await persist(this.#ports, clock.now() + WITHIN, (signal) => store.txn(txn, signal)).catch((error) => {
      log.info("this host could not leave word that it is there", { error: String(error) });
    });
  }

  #text(): string {
    return this.#ports.describeHost(this.#ports.clock.wall());
  }
}
