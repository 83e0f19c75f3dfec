import { addMs } from "../../../core/base/clock.ts";
import { retryUnavailable } from "../../../core/etcd/store.ts";
import { isHolding } from "../../../core/protocol/admission.ts";
import { toQueue } from "../../../core/protocol/ticket.ts";
import { RunInterruptedError, SignalRouter } from "../../../core/run/command-supervisor.ts";
import type { RunPorts, RunRequest } from "../../../core/run/request.ts";
import type { RunResult } from "../../../core/run/run.ts";

/**
 * Checks whether a run with the same label already waits for one of the resources. For a run without a lock, this is
 * the only thing that stops cron from adding a waiting run every minute. Two runs that check at the same time may both
 * find no other.
 * @returns a result if there is one, or if a signal came; undefined if the run may continue
 * @throws StoreError
 */
export async function findQueuedRun(ports: RunPorts, request: RunRequest): Promise<RunResult | undefined> {
  const { leases, identity, connectTimeout, busyExitCode } = request;
  const context = new SignalRouter(ports, []);
  const until = addMs(ports.clock.now(), connectTimeout);
  try {
    for (const { resource } of leases) {
      const range = ports.keys.getQueueRange("resource", resource);
      const read = (signal: AbortSignal) => ports.store.readRange(range, signal);
      const { kvs } = await retryUnavailable(ports, until, read, context.signal);
      // It may be admitted here, and wait for another resource.
      const holder = toQueue(kvs).find(
        (entry) => entry.ticket !== undefined && entry.ticket.label === identity.label && !isHolding(entry),
      );
      if (holder !== undefined)
        return { kind: "refused", code: busyExitCode, refusal: { kind: "busy", holder } };
    }
    return undefined;
  } catch (error) {
    if (error instanceof RunInterruptedError) return { kind: "interrupted", code: error.exitCode };
    throw error;
  } finally {
    context.close();
  }
}
