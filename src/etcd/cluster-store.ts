import type { Failover } from "./failover.ts";
import { type Member, MemberError, type Rpc } from "./member.ts";
import { OpenWatch } from "./open-watch.ts";
import {
  type ClusterMember,
  type Header,
  type MemberStatus,
  type RangeOp,
  type RangeResult,
  type Store,
  StoreError,
  type Txn,
  type TxnAnswer,
  type WatchBatch,
  type WatchRequest,
} from "./store.ts";
import { readHeader, readRoster, readStatus, type Wire } from "./wire.ts";
import type { WireLease, WireRangeAnswer, WireRoster, WireTxn, WireWatch } from "./wire-types.ts";

/** The store port over the members of a cluster, whatever the transport. */
export class ClusterStore<B> implements Store {
  readonly #failover: Failover;
  readonly #wire: Wire<B>;
  readonly #watches = new Set<OpenWatch>();

  constructor(failover: Failover, wire: Wire<B>) {
    this.#failover = failover;
    this.#wire = wire;
    failover.onSuspect = (member) => this.#distrust(member);
  }

  async grant(id: bigint, ttl: number, signal?: AbortSignal): Promise<Header & { ttl: number }> {
    const request = { ID: id.toString(), TTL: ttl.toString() };
    const answer = await this.#call<WireLease>("grant", request, signal);
    return { ...readHeader(answer.header), ttl: Number(answer.TTL) };
  }

  async renew(id: bigint, signal?: AbortSignal): Promise<Header & { ttl: number }> {
    const answer = await this.#call<WireLease>("renew", { ID: id.toString() }, signal);
    const ttl = Number(answer.TTL ?? 0);
    if (ttl <= 0) throw new StoreError("noSession", `session ${id.toString(16)} is gone`);
    return { ...readHeader(answer.header), ttl };
  }

  async remaining(id: bigint, signal?: AbortSignal): Promise<{ left: number; ttl: number } | undefined> {
    const { TTL, grantedTTL } = await this.#call<WireLease>("remaining", { ID: id.toString() }, signal);
    const left = Number(TTL ?? 0);
    // One that is gone answers -1; one that is on its way out has nothing left, and was granted something.
    return left < 0 || grantedTTL === undefined ? undefined : { left, ttl: Number(grantedTTL) };
  }

  async revoke(id: bigint, signal?: AbortSignal): Promise<void> {
    try {
      await this.#call("revoke", { ID: id.toString() }, signal);
    } catch (error) {
      if (!(error instanceof StoreError && error.kind === "noSession")) throw error;
    }
  }

  async range(range: RangeOp & { revision?: bigint }, signal?: AbortSignal): Promise<Header & RangeResult> {
    const answer = await this.#call<WireRangeAnswer>("range", this.#wire.rangeRequest(range), signal);
    const header = readHeader(answer.header);
    // etcd's header says how far the store is; the port says at which revision the answer is true.
    return { ...header, revision: range.revision ?? header.revision, ...this.#wire.range(answer) };
  }

  async txn(txn: Txn, signal?: AbortSignal): Promise<TxnAnswer> {
    const answer = await this.#call<WireTxn>("txn", this.#wire.txnRequest(txn), signal);
    return { ...readHeader(answer.header), ...this.#wire.txn(answer) };
  }

  async *watch(request: WatchRequest, signal: AbortSignal): AsyncGenerator<WatchBatch, never> {
    const creates = this.#wire.createRequests(request);
    const open = await this.#failover.run(
      (member, options) => OpenWatch.open(member, creates, options.signal),
      signal,
      (late) => late.end(new StoreError("unavailable", "another member was faster")),
    );
    const onAbort = () => open.end(signal.reason);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    this.#watches.add(open);
    const { clock, timeouts } = this.#failover;
    open.probe(clock, request.progress ?? timeouts.probe).catch((error: unknown) => open.end(error));
    try {
      for (;;) {
        const batch = this.#batch(await open.next());
        if (batch.events.length > 0 || (request.progress !== undefined && batch.revision > 0n)) yield batch;
      }
    } finally {
      this.#watches.delete(open);
      signal.removeEventListener("abort", onAbort);
      open.end(new StoreError("unavailable", "the watch was left"));
    }
  }

  async status(signal?: AbortSignal): Promise<MemberStatus[]> {
    return await Promise.all(this.#failover.members.map((member) => this.#statusOf(member, signal)));
  }

  async roster(signal?: AbortSignal): Promise<ClusterMember[]> {
    return readRoster(await this.#call<WireRoster>("roster", {}, signal));
  }

  close(): void {
    const reason = new StoreError("unavailable", "the connection to etcd was closed");
    this.#failover.close();
    for (const watch of this.#watches) watch.end(reason);
  }

  async #call<T>(rpc: Rpc, request: object, signal: AbortSignal | undefined): Promise<T> {
    return (await this.#failover.run((member, options) => member.call(rpc, request, options), signal)) as T;
  }

  /** Progress reports carry no events, only how far the member is. */
  #batch(answer: WireWatch): WatchBatch {
    const events = this.#wire.events(answer);
    const last = events.at(-1);
    if (last === undefined) return { revision: BigInt(answer.header?.revision ?? 0), events };
    return { revision: last.type === "put" ? last.kv.modRevision : last.revision, events };
  }

  async #statusOf(member: Member, signal: AbortSignal | undefined): Promise<MemberStatus> {
    const { clock, timeouts } = this.#failover;
    const done = new AbortController();
    const ended = AbortSignal.any(signal ? [done.signal, signal] : [done.signal]);
    const { endpoint } = member;
    const late = clock.sleep(timeouts.attempt, ended).then(() => {
      throw new MemberError("unavailable", "retry", `${endpoint}: no answer within ${timeouts.attempt} ms`);
    });
    const start = clock.now();
    try {
      const answer = await Promise.race([askStatus(member, ended), late]);
      return readStatus(endpoint, answer as object, clock.now() - start);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof StoreError) return { endpoint, ok: false, error };
      throw error;
    } finally {
      done.abort();
    }
  }

  /** A member that let a call hang says nothing on its watches either, and would not say so. */
  #distrust(member: Member): void {
    const text = `${member.endpoint}: the member does not answer`;
    for (const watch of this.#watches) {
      if (watch.member === member) watch.end(new MemberError("unavailable", "retry", text));
    }
  }
}

/** Asks once more, on a new connection, where the first failed at once: it may have been closed while it was idle. */
async function askStatus(member: Member, signal: AbortSignal): Promise<unknown> {
  try {
    return await member.call("status", {}, { signal, fresh: false });
  } catch (error) {
    if (signal.aborted || !(error instanceof MemberError) || error.advice !== "retry") throw error;
    return await member.call("status", {}, { signal, fresh: true });
  }
}
