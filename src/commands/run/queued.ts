import { persist } from "../../etcd/persist.ts";
import { queueOf, type TicketState } from "../../protocol/ticket.ts";
import type { RunPorts, RunRequest } from "../../work/run/request.ts";
import type { RunResult } from "../../work/run/run.ts";
import { Interrupted, SignalDesk } from "../../work/run/signals.ts";

/**
 * Whether a run with the same label waits for one of the resources already. A run that takes no lock has nothing else that
 * keeps cron from adding to the queue every minute. Two that look in the same instant may both see nobody.
 * @returns a result where that is so, or where a signal came; undefined where the run may go on
 * @throws StoreError
 */
export async function queuedAlready(ports: RunPorts, request: RunRequest): Promise<RunResult | undefined> {
  const { leases, identity, connectTimeout, busyExitCode } = request;
  const desk = new SignalDesk(ports, []);
  const until = ports.clock.now() + connectTimeout;
  try {
    for (const { resource } of leases) {
      const range = ports.keys.queue("resource", resource);
      const read = (signal: AbortSignal) => ports.store.range(range, signal);
      const { kvs } = await persist(ports, until, read, desk.signal);
      const holder = queueOf(kvs).find(
        ({ ticket }) => ticket !== undefined && ticket.label === identity.label && waits(ticket.state),
      );
      if (holder !== undefined)
        return { kind: "refused", code: busyExitCode, refusal: { kind: "busy", holder } };
    }
    return undefined;
  } catch (error) {
    if (error instanceof Interrupted) return { kind: "interrupted", code: error.exitCode };
    throw error;
  } finally {
    desk.close();
  }
}

/** Also where it is admitted here and waits for another resource. */
function waits(state: TicketState): boolean {
  return state === "waiting" || state === "admitted";
}
