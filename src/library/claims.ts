import { basename } from "node:path";
import * as v from "valibot";
import { mergeSignals, NO_LONGER_NEEDED, subtractTime, waitForAbort } from "../core/base/clock.ts";
import { UsageError } from "../core/base/errors.ts";
import { pickDefined } from "../core/base/pick-defined.ts";
import { parseLeases } from "../core/fleet/lease-spec.ts";
import { validateLocks, validateName } from "../core/protocol/names.ts";
import { type QueueEntry, toQueue } from "../core/protocol/ticket.ts";
import { acquireClaim, type HeldClaim } from "../core/run/held-claim.ts";
import type { ClaimRequest, WaitLimits } from "../core/run/request.ts";
import { followEtcd, KeySink } from "../site/observe/follow.ts";
import { ClosableWait, type LibraryConnection, translated } from "./connection.ts";
import { ClaimLostError, ClosedError } from "./errors.ts";
import {
  DURATION,
  FLAG,
  POSITIVE,
  parseOptions,
  resolveSessionTimes,
  SESSION_OPTIONS,
  SIGNAL,
  TEXT,
  TEXTS,
  WAIT,
} from "./options-schema.ts";
import type { ClaimOptions, Held, LockHolder, RateOptions, WatchOptions, Work } from "./types.ts";

/** Options of a call that names what it claims. */
export const CLAIM_OPTIONS = {
  wait: v.optional(WAIT),
  shared: v.optional(FLAG),
  signal: SIGNAL,
  group: v.optional(TEXT),
  ...SESSION_OPTIONS,
  maxHold: v.optional(DURATION),
  label: v.optional(TEXT),
  history: v.optional(FLAG),
} satisfies Record<keyof ClaimOptions, v.GenericSchema>;
/** Options of a call without other arguments. */
export const ACQUIRE_OPTIONS = {
  lock: v.optional(v.lazy((given) => (Array.isArray(given) ? TEXTS : TEXT))),
  leases: v.optional(TEXTS, []),
  ...CLAIM_OPTIONS,
};
type ParsedOptions = v.InferOutput<v.StrictObjectSchema<typeof ACQUIRE_OPTIONS, undefined>>;

/** Makes a claim and holds it until `release`. @throws the same errors as `Signalbox.acquire` */
export async function acquire(connection: LibraryConnection, options: ParsedOptions): Promise<OwnHeld> {
  const request = buildClaimRequest(connection, options);
  const waiting = new ClosableWait(connection, "the connection was closed while waiting");
  return await waiting.run(async (closing) => {
    const either = mergeSignals(closing, options.signal);
    const claim = await translated(() => acquireClaim(connection.ports, request, either));
    return await connection.adoptOrEnd(createHeld(connection, claim, request), () => claim.release());
  });
}

/** A claim that the connection closes, and that can have work of its own. */
interface OwnHeld extends Held {
  /**
   * Runs the work, and frees the claim when the work has ended, also when it failed; the call settles after that. If the
   * claim is lost, the call rejects in time even if the work ignores the signal.
   * @throws the errors of the work; ClaimLostError if the claim is lost before the work has ended
   */
  runWork<T>(work: Work<T>): Promise<T>;
  /**
   * Aborts the signal of running work, waits until it has ended or is late, and frees the claim. Without work, frees
   * the claim at once.
   */
  close(): Promise<void>;
}

function createHeld(connection: LibraryConnection, claim: HeldClaim, request: ClaimRequest): OwnHeld {
  const { clock } = connection.ports;
  const signal = claim.signal as Held["signal"];
  let running: Promise<unknown> | undefined;

  const release = async (exit: number) => {
    await claim.release(exit);
    connection.drop(held);
  };

  /** Rejects when the signal has been aborted and the termination timeout has passed, but no later than the horizon. */
  const rejectWhenLate = async (over: AbortSignal): Promise<never> => {
    await waitForAbort(signal);
    const left = Math.max(0, subtractTime(claim.getHorizon(), clock.now()));
    await clock.sleep(Math.min(request.terminationTimeout, left), over);
    throw signal.reason;
  };

  /** Waits for work, and rejects when it is late. The timer of the wait must not keep the process alive. */
  const waitUntilLate = async (work: Promise<unknown>) => {
    const over = new AbortController();
    await Promise.race([work, rejectWhenLate(over.signal)]).finally(() => over.abort(NO_LONGER_NEEDED));
  };

  const toLostError = (cause: unknown) => {
    const { reason } = signal;
    return cause === reason ? reason : new ClaimLostError(reason.kind, reason.message, { cause });
  };

  const held: OwnHeld = {
    token: claim.token,
    run: claim.run,
    lock: request.locks[0],
    signal,
    isCurrent: () => translated(() => claim.isCurrent()),
    release: () => release(0),
    [Symbol.asyncDispose]: () => release(0),

    async runWork(work) {
      const working = (async () => await work(held))();
      running = working;
      const freed = working.then(
        () => release(0),
        () => release(1),
      );
      await waitUntilLate(freed);
      const value = await working.catch((error) => {
        throw signal.aborted ? toLostError(error) : error;
      });
      if (signal.aborted) throw signal.reason;
      return value;
    },

    async close() {
      if (running !== undefined) {
        claim.abandon("the connection is closed");
        await waitUntilLate(running).catch(() => {});
      }
      await release(0);
    },
  };
  return held;
}

/** @throws UsageError, ConfigError */
function buildClaimRequest(connection: LibraryConnection, options: ParsedOptions): ClaimRequest {
  const { settings, facts, macros, user } = connection;
  const {
    lock,
    shared,
    history = settings.history,
    maxHold = settings.maxHold,
    label = settings.label,
  } = options;
  const leases = parseLeases(options.leases, macros);
  const locks = validateLocks([lock ?? []].flat());
  if (locks.length === 0 && leases.length === 0)
    throw new UsageError("there is nothing to claim; name a lock, or leases");
  if (locks.length === 0 && shared)
    throw new UsageError("shared has an effect only with a lock; name a lock, or leave it out");
  const command = basename(process.argv[1] ?? process.execPath);
  return {
    locks,
    leases,
    waitLimits: toWaitLimits(options, settings.leaseTimeout),
    history,
    identity: { host: facts.fqdn, pid: process.pid, user, command, ...pickDefined({ label }) },
    ...resolveSessionTimes(settings, options),
    connectTimeout: settings.connectTimeout,
    ...pickDefined({ group: options.group ?? settings.group, maxHold, isShared: shared }),
  };
}

function toWaitLimits({ wait }: ParsedOptions, leaseTimeout: number | undefined): WaitLimits {
  if (wait === false) return { queues: false, leases: 0 };
  if (typeof wait === "number") return { queues: true, lock: wait };
  return { queues: wait === true, ...pickDefined({ leases: leaseTimeout }) };
}

const CLAIM_CALL_OPTIONS = {
  max: POSITIVE,
  per: DURATION,
  wait: CLAIM_OPTIONS.wait,
  signal: CLAIM_OPTIONS.signal,
} satisfies Record<keyof RateOptions, v.GenericSchema>;

/**
 * Waits until one more may begin: for a unit of a resource, which is kept for the span.
 * @throws the errors of `acquire`
 */
export async function limitRate(
  connection: LibraryConnection,
  resource: string,
  options: RateOptions,
): Promise<void> {
  const { max, per, wait = true, signal } = parseOptions("limitRate", options, CLAIM_CALL_OPTIONS);
  const held = await acquire(connection, {
    leases: [`${resource}=1:${max}`],
    wait,
    ...(signal !== undefined && { signal }),
  });
  void keepFor(connection, held, per);
}

/** Releases a claim after a time, or when the connection is closed. A lost claim is released without effect. */
async function keepFor(connection: LibraryConnection, held: Held, span: number): Promise<void> {
  try {
    const wait = new ClosableWait(connection, "the connection is closed");
    await wait.run((closing) => connection.ports.clock.sleep(span, closing));
  } catch {
    // The connection is closed, which releases the claim too.
  } finally {
    await held.release();
  }
}

/** Yields the holder of a lock, now and after each change. @throws the same errors as `Signalbox.watchLock` */
export async function* watchLock(
  connection: LibraryConnection,
  lock: string,
  options: WatchOptions,
): AsyncGenerator<LockHolder | undefined, never> {
  const { signal } = parseOptions("watchLock", options, { signal: SIGNAL });
  validateName("lock", lock);
  const watch = new ClosableWait(connection, "the connection was closed");
  try {
    yield* followHolder(connection, lock, mergeSignals(watch.signal, signal));
    throw new ClosedError("a watch never ends by itself");
  } finally {
    watch.end();
    void watch.close(); // nobody watches any more
  }
}

async function* followHolder(
  { ports }: LibraryConnection,
  lock: string,
  signal: AbortSignal,
): AsyncGenerator<LockHolder | undefined, void> {
  const sink = new KeySink(ports.keys.getQueueRange("lock", lock));
  const following = followEtcd(ports, sink, signal);
  let last: string | undefined;
  for (;;) {
    const { value: event } = await translated(() => following.next());
    if (event?.kind === "away") continue;
    const queue = toQueue([...sink.stored.values()]);
    const holder = toLockHolder(queue.find(({ ticket }) => ticket?.state === "held"));
    const token = holder?.token ?? "";
    if (token === last) continue;
    last = token;
    yield holder;
  }
}

function toLockHolder(entry: QueueEntry | undefined): LockHolder | undefined {
  if (entry?.ticket === undefined) return undefined;
  const { run, host, pid, user, label } = entry.ticket;
  return { token: String(entry.createRevision), run, host, pid, user, label };
}
