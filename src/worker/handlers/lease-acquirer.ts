import { VERSION } from "../../base/version.ts";
import { serializeHostRecord } from "../../fleet/host-record.ts";
import { createMacros, type MacroFacts } from "../../fleet/macros.ts";
import { evaluateConfiguredTotal } from "../../fleet/resources.ts";
import { acquireClaim } from "../../run/held-claim.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import type { LeaseAcquirer } from "./leased-handler.ts";

/** Identity and session of lease claims for tasks. Times in ms, the session's time to live in whole seconds. */
interface LeaseAcquirerOptions {
  facts: MacroFacts;
  user: string;
  ttl: number;
  terminationTimeout: number;
}

/** How long a task may wait for its leases while it occupies one of the worker's task slots, ms. */
const PATIENCE = 60_000;

/** Acquires leases in the same way as runs do: in queue order, visible to all, in separate sessions. */
export function createLeaseAcquirer(
  ports: SchedulePorts,
  { facts, user, ttl, terminationTimeout }: LeaseAcquirerOptions,
): LeaseAcquirer {
  const macros = createMacros(facts);
  const evaluateTotal = (text: string) => evaluateConfiguredTotal(text, macros);
  const describeHost = (wall: number) => serializeHostRecord(facts, VERSION, wall);
  return {
    macros,
    log: ports.log,
    acquire: (leases, label, signal) =>
      acquireClaim(
        { ...ports, evaluateTotal, describeHost },
        {
          leases,
          patience: { queues: true, leases: PATIENCE },
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
