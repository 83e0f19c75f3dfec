import { clean, quoteText } from "../../base/text.ts";
import { listenForAbort, mapAtMost, OVER } from "../../base/wait.ts";
import type { KeyRange, Op } from "../../protocol/txn.ts";
import type { LoginShare } from "../login/login.ts";
import { type Member, MemberError, type Rpc } from "../member.ts";
import { isAuthenticationOff } from "../member-errors.ts";
import { isUnavailable, runWithDeadline } from "../retry.ts";
import {
  type MemberStatus,
  type RangeRead,
  type Store,
  StoreError,
  type Txn,
  type WatchBatch,
  type WatchRequest,
} from "../store.ts";
import {
  parseInteger,
  parseMemberList,
  parseMemberStatus,
  parseResponseHeader,
  type WireCodec,
  type WireLease,
  type WireLeases,
  type WireMemberList,
  type WireNames,
  type WireRangeResponse,
  type WireRole,
  type WireTxn,
  type WireWatch,
} from "../wire-codec.ts";
import type { Failover } from "./failover.ts";
import { OpenWatch, type SharedWatches, type WatchSource } from "./shared-watches.ts";

/** The store port over the members of a cluster, independent of the transport. */
export class ClusterStore<B> implements Store {
  readonly #failover: Failover;
  readonly #wire: WireCodec<B>;
  readonly #share: LoginShare | undefined;
  readonly #sharedWatches: SharedWatches | undefined;
  readonly #watches = new Set<WatchSource>();

  /**
   * @param share  the login, when a user with a password is configured
   * @param sharedWatches  one stream for many watches; otherwise each has its own
   */
  constructor(failover: Failover, wire: WireCodec<B>, share?: LoginShare, sharedWatches?: SharedWatches) {
    this.#failover = failover;
    this.#wire = wire;
    this.#share = share;
    this.#sharedWatches = sharedWatches;
    failover.onSuspect = (member) => this.#distrust(member);
  }

  async grant(id: bigint, ttl: number, signal?: AbortSignal) {
    const request = { ID: id.toString(), TTL: ttl.toString() };
    const answer = await this.#call<WireLease>("grant", request, signal);
    return { ...parseResponseHeader(answer.header), ttl: Number(answer.TTL) };
  }

  async renew(id: bigint, signal?: AbortSignal) {
    const answer = await this.#call<WireLease>("renew", { ID: id.toString() }, signal);
    const ttl = Number(answer.TTL ?? 0);
    if (ttl <= 0) throw new StoreError("noSession", `session ${id.toString(16)} is gone`);
    return { ...parseResponseHeader(answer.header), ttl };
  }

  async readTimeToLive(id: bigint, signal?: AbortSignal) {
    const { TTL, grantedTTL } = await this.#call<WireLease>("remaining", { ID: id.toString() }, signal);
    const left = Number(TTL ?? 0);
    // A missing session has TTL -1. An expiring session has no time left but still a granted time.
    return left < 0 || grantedTTL === undefined ? undefined : { left, ttl: Number(grantedTTL) };
  }

  async listSessionKeys(id: bigint, signal?: AbortSignal) {
    const { keys } = await this.#call<WireLease>("remaining", { ID: id.toString(), keys: true }, signal);
    return this.#wire.parseKeys(keys ?? []);
  }

  async listSessions(signal?: AbortSignal) {
    const { leases = [] } = await this.#call<WireLeases>("leases", {}, signal);
    return leases.map(({ ID = "0" }) => BigInt(ID));
  }

  async revoke(id: bigint, signal?: AbortSignal) {
    try {
      await this.#call("revoke", { ID: id.toString() }, signal);
    } catch (error) {
      if (!(error instanceof StoreError && error.kind === "noSession")) throw error;
    }
  }

  async readRange(range: RangeRead, signal?: AbortSignal) {
    const asked = this.#call<WireRangeResponse>("range", this.#wire.toRangeRequest(range), signal);
    const answer = await this.#explainDenials(asked, () => computeRangeAccess([range]));
    const header = parseResponseHeader(answer.header);
    // etcd's header has the current revision of the store; the port returns the revision of the read.
    const { revision = header.revision, binaryValues } = range;
    return { ...header, revision, ...this.#wire.parseRange(answer, binaryValues) };
  }

  async commitTxn(txn: Txn, signal?: AbortSignal) {
    const asked = this.#call<WireTxn>("txn", this.#wire.toTxnRequest(txn), signal);
    const answer = await this.#explainDenials(asked, () => computeTxnAccess(txn));
    return { ...parseResponseHeader(answer.header), ...this.#wire.parseTxn(answer) };
  }

  async *watch(request: WatchRequest, signal: AbortSignal) {
    const opening = this.#runWithToken(signal, (token) => this.#openWatch(request, token, signal));
    const open = await this.#explainDenials(opening, () => computeRangeAccess(request.ranges));
    const stopListening = listenForAbort(signal, () => open.end(signal.reason));
    this.#watches.add(open);
    const { clock, latency } = this.#failover;
    try {
      for (;;) {
        const batch = this.#toWatchBatch(await open.readNext());
        latency.recordMessage(open.member, clock.now());
        if (batch.events.length > 0 || (request.progress !== undefined && batch.revision > 0n)) yield batch;
      }
    } finally {
      this.#watches.delete(open);
      stopListening();
      open.end(new StoreError("unavailable", "the watch was left"));
    }
  }

  async readMemberStatuses(signal?: AbortSignal): Promise<MemberStatus[]> {
    const { members } = this.#failover;
    try {
      const token = await this.#findToken(signal);
      return await Promise.all(
        members.map((member) => readMemberStatus(this.#failover, member, token, signal)),
      );
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof StoreError)) throw error;
      return members.map(({ endpoint }) => ({ endpoint, ok: false, error }));
    }
  }

  async listMembers(signal?: AbortSignal) {
    return parseMemberList(await this.#call<WireMemberList>("roster", {}, signal));
  }

  async readUsers(signal?: AbortSignal) {
    const { users = [] } = await this.#call<WireNames>("users", {}, signal);
    const { roles = [] } = await this.#call<WireNames>("roles", {}, signal);
    const readUser = async (name: string) => {
      const { roles: own = [] } = await this.#call<WireNames>("user", { name }, signal);
      return { name, roles: own };
    };
    const readRole = async (name: string) => {
      const answer = await this.#call<WireRole>("role", { role: name }, signal);
      return { name, permissions: this.#wire.parsePermissions(answer) };
    };
    return {
      isEnabled: await this.#requiresLogin(signal),
      users: await mapAtMost(users, MOST_AT_ONCE, readUser),
      roles: await mapAtMost(roles, MOST_AT_ONCE, readRole),
    };
  }

  /** Tries a login that cannot succeed: every etcd since 3.4 then says whether authentication is on. */
  async #requiresLogin(signal: AbortSignal | undefined): Promise<boolean> {
    try {
      await this.#run("authenticate", { name: "", password: "" }, undefined, signal);
    } catch (error) {
      if (isAuthenticationOff(error)) return false;
      if (!(error instanceof StoreError) || error.kind !== "unauthenticated") throw error;
    }
    return true;
  }

  close() {
    const reason = new StoreError("unavailable", "the connection to etcd was closed");
    this.#failover.close();
    this.#share?.login.cancel(this.#failover);
    this.#share?.release();
    for (const watch of this.#watches) watch.end(reason);
    this.#sharedWatches?.close();
  }

  /** Adds the user and the keys to permission errors. */
  #explainDenials<T>(call: Promise<T>, access: () => KeyAccess): Promise<T> {
    return call.catch((error: unknown) => {
      throw explainDenied(error, this.#share?.user, access());
    });
  }

  async #call<T>(rpc: Rpc, request: object, signal: AbortSignal | undefined): Promise<T> {
    return (await this.#runWithToken(signal, (token) => this.#run(rpc, request, token, signal))) as T;
  }

  #run(rpc: Rpc, request: object, token: string | undefined, signal?: AbortSignal): Promise<unknown> {
    return this.#failover.run((member, options) => member.call(rpc, request, { ...options, token }), signal);
  }

  /** Makes a call with the token of the login, if there is one. */
  #runWithToken<T>(signal: AbortSignal | undefined, call: (token?: string) => Promise<T>): Promise<T> {
    return this.#share === undefined ? call() : this.#share.login.use(this.#failover, signal, call);
  }

  /**
   * Opens a watch. A stale token looks like a missing permission there; a read of the same keys distinguishes the two.
   */
  async #openWatch(
    request: WatchRequest,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<WatchSource> {
    const creates = this.#wire.toCreateRequests(request);
    const shared = request.progress === undefined ? this.#sharedWatches : undefined; // progress is that of a stream
    const { clock, timeouts } = this.#failover;
    const probes = { clock, every: request.progress ?? timeouts.probe };
    try {
      return await this.#failover.run(
        (member, options): Promise<WatchSource> =>
          shared?.open(member, creates, options) ??
          OpenWatch.open(member, creates, { ...options, token }, probes),
        signal,
        (late) => late.end(new StoreError("unavailable", "another member was faster")),
      );
    } catch (error) {
      const [range] = request.ranges;
      const isRefused = error instanceof MemberError && error.kind === "permission";
      if (!isRefused || token === undefined || range === undefined) throw error;
      await this.#run("range", this.#wire.toRangeRequest({ ...range, countOnly: true }), token, signal);
      throw error;
    }
  }

  /** Converts a response to a batch. Progress reports have no events, only a revision. */
  #toWatchBatch(answer: WireWatch): WatchBatch {
    const events = this.#wire.parseEvents(answer);
    const last = events.at(-1);
    if (last === undefined) return { revision: parseInteger(answer.header?.revision), events };
    return { revision: last.type === "put" ? last.kv.modRevision : last.revision, events };
  }

  /**
   * Returns the login token if it is available soon: members report their status without a token too.
   * @throws StoreError when etcd refuses the login
   */
  async #findToken(signal: AbortSignal | undefined): Promise<string | undefined> {
    const { clock, timeouts } = this.#failover;
    const getToken = (call: AbortSignal) =>
      this.#share?.login.use(this.#failover, call, async (token) => token);
    try {
      return await runWithDeadline(
        clock,
        clock.now() + timeouts.attempt,
        async (call) => getToken(call),
        signal,
      );
    } catch (error) {
      if (isUnavailable(error)) return undefined;
      throw error;
    }
  }

  /** Ends the watches on a member that left a call without a response: they would go silent without an error. */
  #distrust(member: Member): void {
    this.#sharedWatches?.drop(member);
    const text = `${member.endpoint}: the member does not answer`;
    for (const watch of this.#watches) {
      if (watch.member === member) watch.end(new MemberError("unavailable", "retry", text));
    }
  }
}

/** Reads the status of one member, or the error with which the request failed. @throws only the signal's reason */
async function readMemberStatus(
  { clock, timeouts }: Failover,
  member: Member,
  token: string | undefined,
  signal: AbortSignal | undefined,
): Promise<MemberStatus> {
  const done = new AbortController();
  const ended = AbortSignal.any(signal ? [done.signal, signal] : [done.signal]);
  const { endpoint } = member;
  const late = clock.sleep(timeouts.attempt, ended).then(() => {
    throw new MemberError("unavailable", "retry", `${endpoint}: no answer within ${timeouts.attempt} ms`);
  });
  const start = clock.now();
  try {
    const answer = await Promise.race([askStatus(member, token, ended), late]);
    return parseMemberStatus(endpoint, answer as object, clock.now() - start);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof StoreError) return { endpoint, ok: false, error };
    throw error;
  } finally {
    done.abort(OVER);
  }
}

/**
 * Requests the status, once more on a new connection if the first one fails at once: it may have been closed while
 * idle.
 */
async function askStatus(member: Member, token: string | undefined, signal: AbortSignal): Promise<unknown> {
  try {
    return await member.call("status", {}, { signal, token, fresh: false });
  } catch (error) {
    if (signal.aborted || !(error instanceof MemberError) || error.advice !== "retry") throw error;
    return await member.call("status", {}, { signal, token, fresh: true });
  }
}

/** Requests at the same time, where a command needs one for each of many things. */
const MOST_AT_ONCE = 8;

/** Maximum number of keys named in a message; the rest are only counted. */
const NAMED = 2;

/** The keys that a call reads and writes. */
interface KeyAccess {
  reads: readonly string[];
  writes: readonly string[];
}

/** Returns the keys of a transaction, including nested ones. Comparing a key needs the permission to read it. */
function computeTxnAccess({ compare, success, failure }: Txn): KeyAccess {
  const parts = [...success, ...failure].map(computeOpAccess);
  return {
    reads: [...compare.map(({ key }) => key), ...parts.flatMap(({ reads }) => reads)],
    writes: parts.flatMap(({ writes }) => writes),
  };
}

function computeOpAccess(op: Op): KeyAccess {
  if (op.op === "txn") return computeTxnAccess(op.txn);
  return op.op === "range" ? computeRangeAccess([op]) : { reads: [], writes: [op.key] };
}

function computeRangeAccess(ranges: readonly KeyRange[]): KeyAccess {
  const nameRange = ({ key, rangeEnd }: KeyRange) => (key === "\0" && rangeEnd === "\0" ? "all keys" : key);
  return { reads: ranges.map(nameRange), writes: [] };
}

/**
 * Adds the user and the keys to a permission error, because etcd's own message names neither.
 * @param user  undefined when a client certificate identifies the caller
 * @returns other errors unchanged
 */
function explainDenied(error: unknown, user: string | undefined, { reads, writes }: KeyAccess): unknown {
  if (!(error instanceof StoreError) || error.kind !== "permission") return error;
  const wanted = [
    ...(writes.length > 0 ? [`readwrite on ${listKeys(writes)}`] : []),
    ...(reads.length > 0 ? [`read on ${listKeys(reads)}`] : []),
  ].join(", ");
  const who = user === undefined ? "the user of this client" : `user ${quoteText(user)}`;
  const text = `${error.message}; ${who} needs a role with ${wanted}: signalbox doctor says what to grant`;
  return new StoreError("permission", text, { cause: error });
}

function listKeys(keys: readonly string[]): string {
  const distinct = [...new Set(keys)];
  const more = distinct.length > NAMED ? [`${distinct.length - NAMED} more keys`] : [];
  return [...distinct.slice(0, NAMED).map((key) => clean(key, 120)), ...more].join(" and ");
}
