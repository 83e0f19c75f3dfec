import {
  type Clock,
  forwardAbort,
  type Millis,
  pickEarlier,
  type Seconds,
  subtractTime,
} from "../../core/base/clock.ts";
import { EXIT, SignalboxError } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import { StoreError } from "../../core/etcd/store.ts";
import { type LeaseSpec, parseLeases, toUnits } from "../../core/fleet/lease-spec.ts";
import { createMacros, type MacroFacts, type Macros } from "../../core/fleet/macros.ts";
import { evaluateConfiguredTotal } from "../../core/fleet/resources.ts";
import { OldSchemaError } from "../../core/protocol/schema.ts";
import { acquireClaim, type HeldClaim } from "../../core/run/held-claim.ts";
import { type Handler, type ScheduledTask, TaskLost, type TaskResult } from "../handler.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import { toLostResult } from "./command-handler.ts";

/** Leases that this process holds. */
type HeldLeases = Pick<HeldClaim, "signal" | "getHorizon" | "onExtended" | "release">;

interface LeaseAcquirer {
  macros: Macros;
  log: Log;
  clock: Pick<Clock, "now">;
  /**
   * Waits until the leases are granted.
   * @param label  a text shown with the holder
   * @throws SignalboxError 75 when they were not granted in time, StoreError, the signal's reason
   */
  acquire(leases: readonly LeaseSpec[], label: string, signal: AbortSignal): Promise<HeldLeases>;
}

/** Delay before a task without leases starts again, ms. */
const AGAIN_AFTER = 30_000;

/**
 * Creates a handler that runs tasks while it holds the leases of their definition. When the leases are lost, the task ends.
 * @param count  called with the change in held units, positive or negative
 */
export function createLeasedHandler(
  { macros, log, clock, acquire }: LeaseAcquirer,
  inner: Handler,
  count: (units: number) => void = () => {},
): Handler {
  return {
    async run(task) {
      const { signal, id: schedule, definition } = task;
      let leases: readonly LeaseSpec[];
      let held: HeldLeases;
      const from = clock.now();
      try {
        leases = parseLeases(definition.leases ?? [], macros);
        held = await acquire(leases, `schedule ${schedule}`, signal);
      } catch (error) {
        return signal.aborted ? toLostResult(signal.reason) : toUngrantedResult(error);
      }
      const units = leases.reduce((sum, lease) => sum + lease.count, 0);
      const waited = Math.round(subtractTime(clock.now(), from));
      count(units);
      try {
        const done = await inner.run(joinDeadlines(task, held));
        return { ...done, leases: toUnits(leases), waited };
      } finally {
        count(-units);
        await held.release().catch((error) => {
          log.warn("leases are left to expire", { schedule, error: String(error) });
        });
      }
    },
  };
}

/** Returns a task with the earlier of the deadlines of the task and of the leases. */
function joinDeadlines(task: ScheduledTask, held: HeldLeases): ScheduledTask {
  const ending = new AbortController();
  forwardAbort(task.signal, ending);
  const end = () => ending.abort(new TaskLost("lost", (held.signal.reason as Error).message));
  if (held.signal.aborted) end();
  held.signal.addEventListener("abort", end, { once: true });
  return {
    ...task,
    signal: ending.signal,
    getHorizon: () => pickEarlier(task.getHorizon(), held.getHorizon()),
    onExtended(listener) {
      const stops = [task.onExtended(listener), held.onExtended(listener)];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

function toUngrantedResult(error: unknown): TaskResult {
  const reason = error instanceof Error ? error.message : String(error);
  // A newer worker can still run the task. This one must not take it again at once.
  const isTemporary =
    error instanceof OldSchemaError ||
    error instanceof StoreError ||
    (error instanceof SignalboxError && error.exitCode === EXIT.busy);
  return isTemporary ? { result: "released", wait: AGAIN_AFTER, reason } : { result: "failed", reason };
}

/** Identity and session of lease claims for tasks. Times in ms, the session's time to live in whole seconds. */
interface LeaseAcquirerOptions {
  facts: MacroFacts;
  user: string;
  ttl: Seconds;
  terminationTimeout: Millis;
}

/** How long a task may wait for its leases while it occupies one of the worker's task slots, ms. */
const LEASE_TIMEOUT_MS = 60_000;

/** Acquires leases in the same way as runs do: in queue order, visible to all, in separate sessions. */
export function createLeaseAcquirer(
  ports: SchedulePorts,
  { facts, user, ttl, terminationTimeout }: LeaseAcquirerOptions,
): LeaseAcquirer {
  const macros = createMacros(facts);
  const evaluateTotal = (text: string) => evaluateConfiguredTotal(text, macros);
  return {
    macros,
    log: ports.log,
    clock: ports.clock,
    acquire: (leases, label, signal) =>
      acquireClaim(
        { ...ports, evaluateTotal },
        {
          locks: [],
          leases,
          waitLimits: { queues: true, leases: LEASE_TIMEOUT_MS },
          identity: { host: facts.fqdn, pid: process.pid, user, command: "signalbox worker", label },
          ttl,
          terminationTimeout,
          connectTimeout: ports.settings.connectTimeout,
          history: false,
        },
        signal,
      ),
  };
}
