import { changed } from "../../etcd/changed.ts";
import { isUnavailable, persist } from "../../etcd/persist.ts";
import { Session, SessionLost } from "../../etcd/session.ts";
import { StoreError } from "../../etcd/store.ts";
import { type Acquired, Acquisition, type Limits } from "./acquire.ts";
import { newAttempt } from "./attempt.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";
import { type Outlook, outlook, situationFrom, situationReads } from "./situation.ts";
import { describeDrain } from "./wake.ts";

/** How long an abandoned session is tried to be ended, in ms; it expires by itself. */
const ABANDON_WITHIN = 2_000;
/** Between two attempts, so that a fault which ends each at once cannot make a tight loop. */
const BETWEEN_ATTEMPTS = 200;

/**
 * Gets a claim, in as many attempts as the request has patience for. Each has a session and a run id of its own, and a
 * refused one ends its session first: whatever of it is still in flight then finds no session to act on.
 * @throws SignalboxError, StoreError, or the signal's reason
 */
export async function claim(
  ports: ClaimPorts,
  request: ClaimRequest,
  signal: AbortSignal,
): Promise<Acquired> {
  const { clock } = ports;
  const { patience } = request;
  const wait = patience.lock === undefined ? Number.POSITIVE_INFINITY : clock.now() + patience.lock;
  const limits = { connect: clock.now() + request.connectTimeout, wait };
  for (;;) {
    const acquired = await attemptOnce(ports, request, limits, signal);
    if (acquired.kind === "granted") return acquired;
    const { refusal } = acquired;
    ports.log.info("not granted", { refusal: refusal.kind });
    if (refusal.kind === "drained" && patience.queues) {
      const why = await undrained(ports, request, limits, signal);
      if (why !== undefined) return { kind: "refused", refusal: { kind: "timeout", why } };
    } else if (refusal.kind !== "lapsed" || clock.now() >= limits.wait) return acquired;
    await clock.sleep(BETWEEN_ATTEMPTS * ports.random.unit(), signal);
    limits.connect = waits(request) ? limits.wait : clock.now() + request.connectTimeout;
  }
}

function waits({ patience, leases }: ClaimRequest): boolean {
  return patience.queues || leases.length > 0;
}

async function attemptOnce(
  ports: ClaimPorts,
  request: ClaimRequest,
  limits: Limits,
  signal: AbortSignal,
): Promise<Acquired> {
  const session = await Session.open(ports, request.ttl, limits.connect, signal);
  const either = AbortSignal.any([signal, session.signal]);
  const acquisition = new Acquisition(ports, request, newAttempt(ports, request, session), limits, either);
  session.keep(acquisition);
  try {
    const acquired = await acquisition.run();
    if (acquired.kind === "granted") return acquired;
    return acquired.refusal.kind === "gone" ? await whyGone(ports, session, signal) : acquired;
  } catch (error) {
    signal.throwIfAborted();
    if (!isLapse(error)) throw error;
    if (error instanceof SessionLost && error.kind === "unfounded")
      return await whyGone(ports, session, signal);
    return { kind: "refused", refusal: { kind: "lapsed" } };
  } finally {
    if (!acquisition.isGranted)
      await Promise.all([abandon(ports, session), acquisition.presence.afterwards()]);
  }
}

function isLapse(error: unknown): boolean {
  return error instanceof SessionLost || (error instanceof StoreError && error.kind === "noSession");
}

/** Tickets that went with their session have lapsed; where the session lives, somebody took them away. */
async function whyGone(ports: ClaimPorts, session: Session, signal: AbortSignal): Promise<Acquired> {
  const renew = (call: AbortSignal) => ports.store.renew(session.id, call);
  const lives = await persist(ports, session.horizon, renew, signal).then(
    () => true,
    (error) => !isLapse(error) && !isUnavailable(error), // out of reach until the horizon, it lapses
  );
  return { kind: "refused", refusal: lives ? { kind: "evicted", by: "an operator" } : { kind: "lapsed" } };
}

async function abandon(ports: ClaimPorts, session: Session): Promise<void> {
  await session.revoke(ports.clock.now() + ABANDON_WITHIN).catch((error) => {
    ports.log.info("an abandoned session is left to expire", { error: String(error) });
  });
}

/** Waits, standing in no queue, until no drain applies. @returns why patience ended, or undefined */
async function undrained(
  ports: ClaimPorts,
  request: ClaimRequest,
  limits: Limits,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { clock, random } = ports;
  for (;;) {
    const { prospect, revision } = await persist(
      ports,
      limits.wait,
      (call) => survey(ports, request, call),
      signal,
    );
    if (prospect.kind !== "drained") return undefined;
    const left = limits.wait - clock.now();
    const [drain] = prospect.drains;
    if (left <= 0) return drain === undefined ? "drained" : describeDrain(drain);
    const ends = prospect.drains.map(({ until }) => (until === undefined ? left : until - clock.wall() + 1));
    const reread = (request.ttl * 1000 * (1 + random.unit())) / 6;
    const ranges = [ports.keys.drains(), ports.keys.groups()];
    await changed(
      ports,
      { ranges, from: revision + 1n },
      Math.max(0, Math.min(left, reread, ...ends)),
      signal,
    );
  }
}

async function survey(
  ports: ClaimPorts,
  request: ClaimRequest,
  signal: AbortSignal,
): Promise<{ prospect: Outlook; revision: bigint }> {
  const txn = { compare: [], success: situationReads(ports.keys, request), failure: [] };
  const { revision, results } = await ports.store.txn(txn, signal);
  const situation = situationFrom(ports.keys, revision, results);
  return { prospect: outlook(ports, request, situation, ports.clock.wall()), revision };
}
