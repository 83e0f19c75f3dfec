import { VERSION } from "../../base/version.ts";
import { hostText } from "../../fleet/host-record.ts";
import { type MacroFacts, macrosOf } from "../../fleet/macros.ts";
import { configuredTotal } from "../../fleet/resources.ts";
import { acquireClaim } from "../run/keep.ts";
import type { SchedulePorts } from "../schedule/ports.ts";
import type { Lessor } from "./leased.ts";

/** Who claims leases for tasks, as others see it. Times in ms, the session's time to live in whole seconds. */
export interface LessorOptions {
  facts: MacroFacts;
  user: string;
  ttl: number;
  terminationTimeout: number;
}

/** How long a task waits for its leases while it takes a place among the worker's tasks, ms. */
const PATIENCE = 60_000;

/** Gets leases as runs do: fair, seen by everybody, in sessions of their own. */
export function lessorOf(
  ports: SchedulePorts,
  { facts, user, ttl, terminationTimeout }: LessorOptions,
): Lessor {
  const { store, keys, clock, random, log, settings } = ports;
  const macros = macrosOf(facts);
  const evaluateTotal = (text: string) => configuredTotal(text, macros);
  const describeHost = (wall: number) => hostText(facts, VERSION, wall);
  return {
    macros,
    log,
    acquire: (leases, label, signal) =>
      acquireClaim(
        { store, keys, clock, random, log, evaluateTotal, describeHost },
        {
          leases,
          patience: { queues: true, leases: PATIENCE },
          identity: { host: facts.fqdn, pid: process.pid, user, command: "signalbox worker", label },
          ...{ ttl, terminationTimeout, connectTimeout: settings.connectTimeout, history: false },
        },
        signal,
      ),
  };
}
