import { VERSION } from "../../base/version.ts";
import { serializeHostRecord } from "../../fleet/host-record.ts";
import { createMacros, type Macros } from "../../fleet/macros.ts";
import { evaluateConfiguredTotal } from "../../fleet/resources.ts";
import { createGuardianHost } from "../../process/host.ts";
import type { RunPorts, RunRequest } from "../../work/run/request.ts";
import { type CommandConnection, openConnection } from "../connect.ts";
import type { CommandIo } from "../spec.ts";
import { buildRunRequest } from "./build-run-request.ts";
import type { RunInvocation } from "./run-invocation.ts";

/** Opens everything that a run needs, and closes it after `work`. @throws as `openConnection`; UsageError */
export async function withOpenRun<T>(
  { call, overrides, onGrant, ...supply }: RunInvocation,
  io: CommandIo,
  work: (ports: RunPorts, request: RunRequest) => Promise<T>,
): Promise<T> {
  const connection = await openConnection(call, io, supply);
  const { store, log, logContext, facts, settings } = connection;
  const macros = createMacros(facts);
  const ports = createRunPorts(connection, macros, io, onGrant);
  const host = { fqdn: facts.fqdn, macros, settings };
  const request = { ...buildRunRequest(call, host, io.env), ...overrides };
  logContext.lock = request.lock;
  const stop = io.onSignal((name) => {
    if (name === "SIGUSR2") log.reopen();
  });
  try {
    return await work(ports, request);
  } finally {
    stop();
    store.close();
  }
}

function createRunPorts(
  { store, keys, clock, random, log, logContext, facts }: CommandConnection,
  macros: Macros,
  { onSignal }: CommandIo,
  onGrant: RunInvocation["onGrant"],
): RunPorts {
  return {
    ...{ store, keys, clock, random, log, onSignal },
    commands: createGuardianHost(clock),
    evaluateTotal: (text) => evaluateConfiguredTotal(text, macros),
    describeHost: (wall) => serializeHostRecord(facts, VERSION, wall),
    ...(onGrant && { onGrant }),
    onAttempt: (run) => {
      logContext.run = run;
    },
  };
}
