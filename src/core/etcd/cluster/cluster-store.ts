import {
  addMs,
  LONG_AGO,
  listenForAbort,
  mapAtMost,
  NO_LONGER_NEEDED,
  sleepUntilLate,
  subtractTime,
} from "../../base/clock.ts";
import { clean, quoteText } from "../../base/text.ts";
import type { KeyRange, Op, Txn, WatchBatch, WatchRequest } from "../../protocol/txn.ts";
import type { Failover } from "../failover.ts";
import type { LoginShare } from "../login.ts";
import { isAuthenticationOff, type Member, MemberError, type Rpc } from "../member.ts";
import { isUnavailable, type MemberStatus, runWithDeadline, type Store, StoreError } from "../store.ts";
import {
  parseInteger,
  parseMemberList,
  parseMemberStatus,
  parseResponseHeader,
  type WireCodec,
  type WireHeader,
  type WireLease,
  type WireLeases,
  type WireMemberList,
  type WireNames,
  type WireRangeResponse,
  type WireRole,
  type WireTxn,
  type WireWatch,
} from "../wire-codec.ts";
import { NO_SESSION } from "./pinned-member.ts";
import { OpenWatch, type SharedWatches, type WatchSource } from "./shared-watches.ts";

/**
 * Creates the store port over the members of a cluster, independent of the transport.
 * @param share  the login, when a user with a password is configured
 * @param sharedWatches  one stream for many watches; otherwise each has its own
 */
export function createClusterStore<B>(
  failover: Failover,
  wire: WireCodec<B>,
  share?: LoginShare,
  sharedWatches?: SharedWatches,
): Store {
  const openWatches = new Set<WatchSource>();

  const run = (rpc: Rpc, request: object, token: string | undefined, signal?: AbortSignal) =>
    failover.run((member, options) => member.call(rpc, request, { ...options, token }), signal);

  /** Makes a call with the token of the login, if there is one. */
  const runWithToken = <T>(signal: AbortSignal | undefined, call: (token?: string) => Promise<T>) =>
    share === undefined ? call() : share.login.use(failover, signal, call);

  /** The newest raft term that an answer has stated, and when that was. */
  let newest = { term: 0n, statedAt: LONG_AGO };

  const call = async <T>(rpc: Rpc, request: object, signal: AbortSignal | undefined) => {
    const answer = await runWithToken(signal, (token) => run(rpc, request, token, signal));
    const term = parseInteger((answer as { header?: WireHeader }).header?.raft_term);
    if (term >= newest.term) newest = { term, statedAt: failover.clock.now() };
    return answer as T;
  };

  /** Adds the user and the keys to permission errors. */
  const explainDenials = <T>(pending: Promise<T>, access: () => KeyAccess) =>
    pending.catch((error: unknown) => {
      throw explainDenied(error, share?.user, access());
    });

  /** Opens a watch. A stale token looks like a missing permission there; a read of the same keys distinguishes the two. */
  const openWatch = async (request: WatchRequest, token: string | undefined, signal: AbortSignal) => {
    const creates = wire.toCreateRequests(request);
    const shared = request.progress === undefined ? sharedWatches : undefined; // members report progress for a whole stream
    const { clock, timeouts } = failover;
    const probes = { clock, every: request.progress ?? timeouts.probe };
    try {
      return await failover.run(
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
      await run("range", wire.toRangeRequest({ ...range, countOnly: true }), token, signal);
      throw error;
    }
  };

  /** Converts a response to a batch. Progress reports have no events, only a revision. */
  const toWatchBatch = (answer: WireWatch): WatchBatch => {
    const events = wire.parseEvents(answer);
    const last = events.at(-1);
    if (last === undefined) return { revision: parseInteger(answer.header?.revision), events };
    return { revision: last.type === "put" ? last.kv.modRevision : last.revision, events };
  };

  /**
   * Returns the login token if it is available soon: members report their status without a token too.
   * @throws StoreError when etcd refuses the login
   */
  const findToken = async (signal: AbortSignal | undefined) => {
    const { clock, timeouts } = failover;
    const getToken = async (soon: AbortSignal) => share?.login.use(failover, soon, async (token) => token);
    try {
      return await runWithDeadline(clock, addMs(clock.now(), timeouts.attempt), getToken, signal);
    } catch (error) {
      if (isUnavailable(error)) return undefined;
      throw error;
    }
  };

  /** Tries a login that cannot succeed: etcd's error says whether authentication is on, in every version since 3.4. */
  const isLoginRequired = async (signal: AbortSignal | undefined) => {
    try {
      await run("authenticate", { name: "", password: "" }, undefined, signal);
    } catch (error) {
      if (isAuthenticationOff(error)) return false;
      if (!(error instanceof StoreError) || error.kind !== "unauthenticated") throw error;
    }
    return true;
  };

  /** Ends the watches on a member that left a call without a response: they would go silent without an error. */
  failover.onSuspect = (member) => {
    sharedWatches?.drop(member);
    const text = `${member.endpoint}: the member does not answer`;
    for (const watch of openWatches) {
      if (watch.member === member) watch.end(new MemberError("unavailable", "retry", text));
    }
  };

  return {
    async readTerm(signal) {
      const isFresh = subtractTime(failover.clock.now(), newest.statedAt) < TERM_FRESH_MS;
      if (!isFresh) await call("remaining", NO_SESSION, signal);
      return newest.term;
    },

    async grant(id, ttl, signal) {
      const request = { ID: id.toString(), TTL: ttl.toString() };
      const answer = await call<WireLease>("grant", request, signal);
      return { ...parseResponseHeader(answer.header), ttl: Number(answer.TTL) };
    },

    async renew(id, signal) {
      const answer = await call<WireLease>("renew", { ID: id.toString() }, signal);
      const ttl = Number(answer.TTL ?? 0);
      if (ttl <= 0) throw new StoreError("noSession", `session ${id.toString(16)} is gone`);
      return { ...parseResponseHeader(answer.header), ttl };
    },

    async readTimeToLive(id, signal) {
      const { TTL, grantedTTL } = await call<WireLease>("remaining", { ID: id.toString() }, signal);
      const left = Number(TTL ?? 0);
      // A missing session has TTL -1. An expiring session has no time left but still a granted time.
      return left < 0 || grantedTTL === undefined ? undefined : { left, ttl: Number(grantedTTL) };
    },

    async listSessionKeys(id, signal) {
      const { keys } = await call<WireLease>("remaining", { ID: id.toString(), keys: true }, signal);
      return wire.parseKeys(keys ?? []);
    },

    async listSessions(signal) {
      const { leases = [] } = await call<WireLeases>("leases", {}, signal);
      return leases.map(({ ID = "0" }) => BigInt(ID));
    },

    async revoke(id, signal) {
      try {
        await call("revoke", { ID: id.toString() }, signal);
      } catch (error) {
        if (!(error instanceof StoreError && error.kind === "noSession")) throw error;
      }
    },

    async readRange(range, signal) {
      const pending = call<WireRangeResponse>("range", wire.toRangeRequest(range), signal);
      const answer = await explainDenials(pending, () => computeRangeAccess([range]));
      const header = parseResponseHeader(answer.header);
      // etcd's header has the current revision of the store; the port returns the revision of the read.
      const { revision = header.revision, binaryValues } = range;
      return { ...header, revision, ...wire.parseRange(answer, binaryValues) };
    },

    async commitTxn(txn, signal) {
      const pending = call<WireTxn>("txn", wire.toTxnRequest(txn), signal);
      const answer = await explainDenials(pending, () => computeTxnAccess(txn));
      return { ...parseResponseHeader(answer.header), ...wire.parseTxn(answer) };
    },

    async *watch(request, signal) {
      const opening = runWithToken(signal, (token) => openWatch(request, token, signal));
      const open = await explainDenials(opening, () => computeRangeAccess(request.ranges));
      const stopListening = listenForAbort(signal, () => open.end(signal.reason));
      openWatches.add(open);
      const { clock, latency } = failover;
      try {
        for (;;) {
          const batch = toWatchBatch(await open.readNext());
          latency.recordMessage(open.member, clock.now());
          if (batch.events.length > 0 || (request.progress !== undefined && batch.revision > 0n)) yield batch;
        }
      } finally {
        openWatches.delete(open);
        stopListening();
        open.end(new StoreError("unavailable", "the watch was closed"));
      }
    },

    async readMemberStatuses(signal) {
      const { members } = failover;
      try {
        const token = await findToken(signal);
        return await Promise.all(members.map((member) => readMemberStatus(failover, member, token, signal)));
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof StoreError)) throw error;
        return members.map(({ endpoint }) => ({ endpoint, ok: false, error }));
      }
    },

    async listMembers(signal) {
      return parseMemberList(await call<WireMemberList>("roster", {}, signal));
    },

    async readUsers(signal) {
      const { users = [] } = await call<WireNames>("users", {}, signal);
      const { roles = [] } = await call<WireNames>("roles", {}, signal);
      const readUser = async (name: string) => {
        const { roles: own = [] } = await call<WireNames>("user", { name }, signal);
        return { name, roles: own };
      };
      const readRole = async (name: string) => {
        const answer = await call<WireRole>("role", { role: name }, signal);
        return { name, permissions: wire.parsePermissions(answer) };
      };
      return {
        isEnabled: await isLoginRequired(signal),
        users: await mapAtMost(users, MOST_AT_ONCE, readUser),
        roles: await mapAtMost(roles, MOST_AT_ONCE, readRole),
      };
    },

    close() {
      const reason = new StoreError("unavailable", "the connection to etcd was closed");
      failover.close();
      share?.login.cancel(failover);
      share?.release();
      for (const watch of openWatches) watch.end(reason);
      sharedWatches?.close();
    },
  };
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
  const late = sleepUntilLate(clock, timeouts.attempt, ended).then(() => {
    throw new MemberError("unavailable", "retry", `${endpoint}: no answer within ${timeouts.attempt} ms`);
  });
  const start = clock.now();
  try {
    const answer = await Promise.race([askStatus(member, token, ended), late]);
    return parseMemberStatus(endpoint, answer as object, subtractTime(clock.now(), start));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof StoreError) return { endpoint, ok: false, error };
    throw error;
  } finally {
    done.abort(NO_LONGER_NEEDED);
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

/** Age up to which a stated raft term needs no new answer, ms. An older one is more likely to be outdated, which is safe. */
const TERM_FRESH_MS = 10_000;

/** Maximum number of concurrent requests when one is needed for each user or role. */
const MOST_AT_ONCE = 8;

/** Maximum number of keys named in a message; the rest are only counted. */
const MAX_NAMED_KEYS = 2;

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
  const more = distinct.length > MAX_NAMED_KEYS ? [`${distinct.length - MAX_NAMED_KEYS} more keys`] : [];
  return [...distinct.slice(0, MAX_NAMED_KEYS).map((key) => clean(key, 120)), ...more].join(" and ");
}
