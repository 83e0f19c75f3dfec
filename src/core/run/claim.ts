import {
  addMs,
  formatDuration,
  type MonotonicTime,
  NEVER,
  pickEarlier,
  subtractTime,
} from "../base/clock.ts";
import { generateRunId } from "../base/ids.ts";
import { quoteText } from "../base/text.ts";
import { isSessionGone, Session, SessionLost } from "../etcd/session/session.ts";
import { isUnavailable, retryUnavailable, StoreError } from "../etcd/store.ts";
import { waitForChange } from "../etcd/wait-for-change.ts";
import { CONDITION_INTERVAL } from "../fleet/conditions.ts";
import { deleteMarks, guardAbsent } from "../protocol/guards.ts";
import { type QueueEntry, toQueueEntry } from "../protocol/ticket.ts";
import { listKeyValues, type Op } from "../protocol/txn.ts";
import { type AcquireResult, Acquisition, type ClaimDeadlines } from "./acquire.ts";
import { type ClaimAttempt, createClaimAttempt, listOwnKeys } from "./attempt.ts";
import { describeDrain, describeQueueEntry } from "./decide.ts";
import {
  buildInputReads,
  type ClaimEligibility,
  computeEligibility,
  parseClaimInputs,
} from "./eligibility.ts";
import type {
  ClaimPorts,
  ClaimRequest,
  ClaimSession,
  OpenedSession,
  ResumedAttempt,
  RunRequest,
  SessionSource,
} from "./request.ts";
import type { ClaimRefusal, Grant } from "./step.ts";

/** How long to retry ending an abandoned session, in ms. After that, the session expires. */
const ABANDON_TIMEOUT_MS = 2_000;
/** Longest pause between two attempts, in ms. It prevents a tight loop when every attempt fails at once. */
const BETWEEN_ATTEMPTS = 200;

/**
 * Acquires a claim, in as many attempts as the wait limits of the request allow. Each attempt has its own session and
 * run id. A refused attempt ends its session first, so that calls still in flight find no session and have no effect.
 * @throws SignalboxError, StoreError, or the signal's reason
 */
export async function claimWithRetries(
  ports: ClaimPorts,
  request: ClaimRequest,
  signal: AbortSignal,
): Promise<AcquireResult> {
  const { clock } = ports;
  const { waitLimits } = request;
  const { lock = Number.POSITIVE_INFINITY } = waitLimits;
  // Another process, such as an agent before its restart, may have begun the wait. The wall clock may have been set back since.
  const waited = Math.max(0, clock.getWallTime() - (ports.attempts?.since ?? clock.getWallTime()));
  const wait = addMs(clock.now(), Math.max(0, lock - waited));
  const limits = { connect: addMs(clock.now(), request.connectTimeout), wait };
  for (let resumed = ports.resumed; ; resumed = undefined) {
    // An attempt that is resumed may already be granted, so it does not wait for conditions.
    const stop = resumed === undefined ? await waitForConditions(ports, request, limits, signal) : undefined;
    if (stop !== undefined) return { kind: "refused", refusal: stop };
    const acquired = await attemptOnce(ports, request, limits, signal, resumed);
    if (acquired.kind === "granted") return acquired;
    const { refusal } = acquired;
    const isDrained = refusal.kind === "drained" && waitLimits.queues;
    if (!isDrained && (!canTryAgain(request, refusal) || clock.now() >= limits.wait)) return acquired;
    ports.log.info("waiting", { why: describeRefusal(request, refusal) });
    const stillDrained = isDrained && (await waitUntilUndrained(ports, request, limits, signal));
    if (stillDrained) return { kind: "refused", refusal: { kind: "timeout", why: stillDrained } };
    await clock.sleep(BETWEEN_ATTEMPTS * ports.random.generateFraction(), signal);
    // Without waiting, all attempts share the time of the first one. Otherwise a slow etcd could keep the run forever.
    if (canWait(request)) limits.connect = limits.wait;
    else if (clock.now() >= limits.connect) throw createTooSlowError(request);
  }
}

/** Whether another attempt may be granted, and need not wait for a change in etcd. */
function canTryAgain({ waitLimits }: ClaimRequest, { kind }: ClaimRefusal): boolean {
  return kind === "lapsed" || (kind === "unmet" && waitLimits.queues);
}

function createTooSlowError({ connectTimeout, ttl }: ClaimRequest): StoreError {
  const time = `the connect timeout of ${formatDuration(connectTimeout)}`;
  const why = `each session of ${ttl} s expired before its claim was answered`;
  return new StoreError("unavailable", `etcd answers too slowly: within ${time}, ${why}`);
}

function canWait({ waitLimits, leases }: ClaimRequest): boolean {
  return waitLimits.queues || leases.length > 0;
}

async function attemptOnce(
  shared: ClaimPorts,
  request: ClaimRequest,
  limits: ClaimDeadlines,
  signal: AbortSignal,
  resumed: ResumedAttempt | undefined,
): Promise<AcquireResult> {
  const { session, store, run, isResumed } = await openSession(shared, request, limits, signal, resumed);
  const ports = { ...shared, store };
  const either = AbortSignal.any([signal, session.signal]);
  const attempt = createClaimAttempt(ports, request, session, { run, ...(isResumed && { resumed }) });
  const acquisition = new Acquisition(attempt, limits, either);
  session.keepAlive(acquisition);
  const until = canWait(request) ? NEVER : limits.connect;
  try {
    if (attempt.announced !== undefined) await attempt.announced;
    const acquired = await acquisition.run(isResumed);
    if (acquired.kind === "granted") return acquired;
    return acquired.refusal.kind === "gone"
      ? await explainMissingTickets(ports, acquisition, session, until, signal)
      : acquired;
  } catch (error) {
    signal.throwIfAborted();
    if (!isSessionGone(error)) throw error;
    if (error instanceof SessionLost && error.kind === "unfounded")
      return await explainMissingTickets(ports, acquisition, session, until, signal);
    return { kind: "refused", refusal: { kind: "lapsed" } };
  } finally {
    if (!acquisition.isGranted)
      await Promise.all([abandon(attempt, acquisition), acquisition.hostRecord.writeOutdated()]);
  }
}

/** Opens a session of its own for each attempt. */
export function createOwnSessions(ports: Parameters<typeof Session.open>[0]): SessionSource {
  return {
    open: async ({ ttl }, until, signal) => ({
      session: await Session.open(ports, ttl, until, signal),
      store: ports.store,
    }),
  };
}

/** Opens the session of an attempt. If the session of the attempt to resume is gone, begins a new attempt. */
async function openSession(
  ports: ClaimPorts,
  { ttl }: ClaimRequest,
  { connect }: ClaimDeadlines,
  signal: AbortSignal,
  resumed: ResumedAttempt | undefined,
): Promise<OpenedSession & { run: string; isResumed: boolean }> {
  const source = ports.sessions ?? createOwnSessions(ports);
  const found = resumed && (await source.resume?.(resumed, connect, signal));
  if (resumed !== undefined && found !== undefined) return { ...found, run: resumed.run, isResumed: true };
  const run = generateRunId(ports.random);
  return { ...(await source.open({ run, ttl }, connect, signal)), run, isResumed: false };
}

/**
 * Finds out why tickets are missing: they lapsed with their session, or etcd was restored from an older backup, or, if the
 * session is alive, an operator removed them.
 * @param until  how long the call is retried, at most until the horizon
 */
async function explainMissingTickets(
  ports: ClaimPorts,
  { placedRevision }: Acquisition,
  session: ClaimSession,
  until: MonotonicTime,
  signal: AbortSignal,
): Promise<AcquireResult> {
  const renew = (call: AbortSignal) => ports.store.renew(session.id, call);
  const isAlive = await retryUnavailable(ports, pickEarlier(until, session.horizon), renew, signal).then(
    ({ revision }) => {
      const isRestored = revision < placedRevision;
      if (isRestored)
        ports.log.warn("etcd was restored from a backup, which is older than this wait: queueing again");
      return !isRestored;
    },
    (error) => !isSessionGone(error) && !isUnavailable(error), // unavailable until the horizon: it has lapsed
  );
  return { kind: "refused", refusal: isAlive ? { kind: "evicted", by: "an operator" } : { kind: "lapsed" } };
}

/**
 * Frees what an attempt without a grant has left. Ends the session first, so that a late copy of a grant cannot put marks
 * again. Keeps the marks of an attempt that another process may have continued: that process may have started the command.
 */
async function abandon(attempt: ClaimAttempt, { mayHaveTickets, mayHaveMarks }: Acquisition): Promise<void> {
  const { ports, session } = attempt;
  const until = addMs(ports.clock.now(), ABANDON_TIMEOUT_MS);
  const keys = listOwnKeys(attempt);
  try {
    await session.end(until, mayHaveTickets ? keys : []);
    if (mayHaveMarks && ports.attempts === undefined) await removeMarks(ports, keys, until);
  } catch (error) {
    ports.log.info("the tickets of an abandoned attempt are left to expire", { error: String(error) });
  }
}

/** How long to retry removing what is left of a claim, ms. After that, it ends with its session. */
const LEAVE_WITHIN = 2_000;

/**
 * Takes over a claim that another process holds. Its tickets are read after the renewal that proves its session. If etcd
 * does not answer for a time to live, the session has expired, and the claim is gone. Never rejects.
 * @returns `grant`: the claim; undefined if the session is gone, or a ticket is missing or is not held, or etcd refuses a
 *   call. `leave`: removes what is left of an incomplete claim. Call it when no process of the command is left. It never
 *   rejects
 */
export async function resumeGrant(
  ports: ClaimPorts,
  request: ClaimRequest,
  resumed: ResumedAttempt,
): Promise<{ grant: Grant | undefined; leave: () => Promise<void> }> {
  const until = addMs(ports.clock.now(), resumed.ttl * 1000);
  const found = await ports.sessions
    ?.resume?.(resumed, until, new AbortController().signal)
    .catch((error) => reportUnresumed(ports, error));
  if (found === undefined) return { grant: undefined, leave: () => leaveUnclaimed(ports, request, resumed) };
  const { session, store } = found;
  const attempt = createClaimAttempt({ ...ports, store }, request, session, { run: resumed.run, resumed });
  if (attempt.announced !== undefined) await attempt.announced;
  const entries = await readOwnTickets(attempt, until).catch((error) => reportUnresumed(ports, error) ?? []);
  const isHeld = entries.every(({ ticket }) => ticket?.state === "held");
  const isWhole = isHeld && entries.length === listOwnKeys(attempt).length;
  const grantedAt = entries[0]?.ticket?.grantedAt ?? ports.clock.getWallTime();
  const leave = async () => {
    await session
      .end(addMs(ports.clock.now(), LEAVE_WITHIN), listOwnKeys(attempt))
      .catch((error) => ports.log.info("a ticket is left to expire", { error: String(error) }));
    await leaveUnclaimed(ports, request, resumed);
  };
  return { grant: isWhole ? { attempt, entries, grantedAt, histories: undefined } : undefined, leave };
}

/** Removes the marks: the tickets are gone, and so is the command. Never rejects. */
async function leaveUnclaimed(
  ports: ClaimPorts,
  { locks, leases }: ClaimRequest,
  { run }: ResumedAttempt,
): Promise<void> {
  const tickets = [
    ...locks.map((lock) => ports.keys.lock(lock, run)),
    ...leases.map(({ resource }) => ports.keys.resource(resource, run)),
  ];
  await removeMarks(ports, tickets, addMs(ports.clock.now(), LEAVE_WITHIN)).catch((error) =>
    ports.log.info("a mark is left until its time has passed", { error: String(error) }),
  );
}

/** Only logs, whatever the error (a full etcd refuses the fence, for example): the command runs, and must still be ended. */
function reportUnresumed({ log }: ClaimPorts, error: unknown): undefined {
  log.warn("the claim cannot be resumed", { error: String(error) });
}

/** Reads this run's tickets, those for locks first. */
async function readOwnTickets(attempt: ClaimAttempt, until: MonotonicTime): Promise<QueueEntry[]> {
  const success = listOwnKeys(attempt).map((key): Op => ({ op: "range", key }));
  const txn = { compare: [], success, failure: [] };
  const { results } = await retryUnavailable(attempt.ports, until, (call) =>
    attempt.ports.store.commitTxn(txn, call),
  );
  return results.flatMap(listKeyValues).map(toQueueEntry);
}

/**
 * Removes the marks of tickets that are gone, and whose command is dead or was never started. A ticket that still exists
 * keeps its mark: another process may have taken the run over.
 * @param tickets  keys of the tickets
 * @param until    instant until which an unreachable etcd is retried
 * @throws StoreError
 */
async function removeMarks(
  ports: ClaimPorts,
  tickets: readonly string[],
  until: MonotonicTime,
): Promise<void> {
  const success = tickets.map((key): Op => {
    const deletes = deleteMarks(ports.keys, [{ key }]);
    return { op: "txn", txn: { compare: guardAbsent([key]), success: deletes, failure: [] } };
  });
  const txn = { compare: [], success, failure: [] };
  await retryUnavailable(ports, until, (call) => ports.store.commitTxn(txn, call));
}

/** Waits outside all queues until the conditions on the host hold. @returns a refusal if they do not hold in time */
async function waitForConditions(
  { clock, random, log, attempts, onWait }: ClaimPorts,
  { conditions, waitLimits }: ClaimRequest,
  limits: ClaimDeadlines,
  signal: AbortSignal,
): Promise<ClaimRefusal | undefined> {
  const startedAt = clock.now();
  for (let isFirst = true; ; isFirst = false) {
    const why = conditions?.findUnmet();
    if (why === undefined) break;
    if (!waitLimits.queues) return { kind: "unmet", why };
    const left = subtractTime(limits.wait, clock.now());
    if (left <= 0) return { kind: "timeout", why };
    if (isFirst) log.info("waiting", { why });
    if (isFirst && attempts?.last === 0) await onWait?.();
    await clock.sleep(Math.min(left, CONDITION_INTERVAL * (0.5 + random.generateFraction())), signal);
  }
  const { connect, wait } = limits;
  // The wait for conditions does not count towards the connect timeout.
  if (connect < wait)
    limits.connect = pickEarlier(wait, addMs(connect, subtractTime(clock.now(), startedAt)));
  return undefined;
}

/** Waits outside all queues until no drain applies. @returns why the wait timed out, or undefined */
async function waitUntilUndrained(
  ports: ClaimPorts,
  request: ClaimRequest,
  limits: ClaimDeadlines,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { clock, random } = ports;
  for (;;) {
    const { eligibility, revision } = await retryUnavailable(
      ports,
      limits.wait,
      (call) => readEligibility(ports, request, call),
      signal,
    );
    if (eligibility.kind !== "drained") return undefined;
    const left = subtractTime(limits.wait, clock.now());
    const [drain] = eligibility.drains;
    if (left <= 0) return drain === undefined ? "drained" : describeDrain(drain);
    const ends = eligibility.drains.map(({ until }) =>
      until === undefined ? left : until - clock.getWallTime() + 1,
    );
    const reread = (request.ttl * 1000 * (1 + random.generateFraction())) / 6;
    const ranges = [ports.keys.drains(), ports.keys.groups()];
    await waitForChange(
      ports,
      { ranges, from: revision + 1n },
      Math.max(0, Math.min(left, reread, ...ends)),
      signal,
    );
  }
}

async function readEligibility(
  ports: ClaimPorts,
  request: ClaimRequest,
  signal: AbortSignal,
): Promise<{ eligibility: ClaimEligibility; revision: bigint }> {
  const txn = { compare: [], success: buildInputReads(ports.keys, request), failure: [] };
  const { revision, results } = await ports.store.commitTxn(txn, signal);
  const inputs = parseClaimInputs(ports.keys, revision, results);
  return { eligibility: computeEligibility(ports, request, inputs, ports.clock.getWallTime()), revision };
}

/**
 * Reports why nothing was run, to the log only: cron mails all output, and a busy lock is not worth a mail.
 * @returns the exit code
 */
export function reportRefusal({ log }: ClaimPorts, request: RunRequest, refusal: ClaimRefusal): number {
  log.info(`nothing was run: ${describeRefusal(request, refusal)}`);
  return request.busyExitCode;
}

export function describeRefusal(request: ClaimRequest, refusal: ClaimRefusal): string {
  switch (refusal.kind) {
    case "busy":
      return `lock ${quoteText(refusal.lock ?? "")} is ${refusal.holder ? describeQueueEntry(refusal.holder) : "taken"}`;
    case "drained":
      return refusal.drains.map(describeDrain).join("; ");
    case "outside":
      return `host ${quoteText(request.identity.host)} is not in group ${quoteText(refusal.group)}`;
    case "timeout":
      return `the wait timed out; ${refusal.why}`;
    case "evicted":
      return `removed from the queue by ${quoteText(refusal.by)}`;
    case "gone":
    case "lapsed":
      return "the session expired while waiting";
    case "unmet":
      return refusal.why;
  }
}
