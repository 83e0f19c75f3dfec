import { constants } from "node:os";
import { EXIT } from "../../../core/base/errors.ts";
import { readMemberClocks } from "../../../core/etcd/member-metrics.ts";
import { buildStoreOptions } from "../../../core/etcd/store-options.ts";
import { createGuardianHost, readUserName } from "../../../core/process/host.ts";
import { requireLinux } from "../../../core/process/native/locate.ts";
import { getRetentionLimits } from "../../../site/operate/retention.ts";
import { WorkerService, type WorkerServiceOptions } from "../../../worker/service/worker-service.ts";
import type { Call, CommandExecutor, CommandIo } from "../../frame/command.ts";
import { type CommandConnection, openConnection } from "../../frame/connect.ts";
import { raiseVerbosity } from "../../frame/logging.ts";
import { buildArchiveOptions, buildOutputStorage } from "../run/run-archive.ts";
import type { WorkerFlags } from "./worker.ts";

const LEAVING_SIGNALS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGQUIT"];
const RELOADING_SIGNALS: readonly NodeJS.Signals[] = ["SIGHUP", "SIGUSR1"];

export const execute: CommandExecutor<WorkerFlags> = runWorker;

/**
 * Runs a worker until a signal stops it.
 * @param given  the worker file as a front end has parsed it, and the defaults of its tool
 * @returns the exit code
 * @throws ConfigError, UsageError, StoreError
 */
export async function runWorker(
  call: Call<WorkerFlags>,
  io: CommandIo,
  given: Pick<WorkerServiceOptions, "keysRead" | "usual"> = {},
): Promise<number> {
  requireLinux("signalbox worker");
  const connection = await openConnection(raiseVerbosity(call, io), io, { prefersGrpc: true });
  const { store, log } = connection;
  let stop = () => {};
  try {
    const options = { ...buildWorkerOptions(call, connection, io), ...given };
    const worker = await WorkerService.create(buildPorts(connection, io), options);
    const ending = new AbortController();
    let leaving = 0;
    let forced: NodeJS.Signals | undefined;
    stop = io.onSignal((name) => {
      if (name === "SIGUSR2") log.reopen();
      else if (RELOADING_SIGNALS.includes(name)) worker.reload();
      else if (LEAVING_SIGNALS.includes(name)) {
        leaving += 1;
        if (leaving === 1) worker.leave(name);
        else {
          forced ??= name;
          ending.abort(new Error(`the worker received ${name} again`));
        }
      }
    });
    await worker.run(ending.signal);
    return forced === undefined ? EXIT.ok : 128 + constants.signals[forced];
  } finally {
    stop();
    log.close?.();
    store.close();
  }
}

function buildPorts({ store, keys, clock, random, log, settings }: CommandConnection, io: CommandIo) {
  const own = { connectTimeout: settings.connectTimeout, retention: getRetentionLimits(settings) };
  const commands = createGuardianHost(clock, undefined, (text) => log.warn(text));
  return { store, keys, clock, random, log, commands, env: io.env, settings: own };
}

function buildWorkerOptions(
  call: Call<WorkerFlags>,
  { settings, facts, clock }: CommandConnection,
  { env }: CommandIo,
): WorkerServiceOptions {
  const { SIGNALBOX_ENV: named = "" } = env;
  return {
    file: call.flags.handlers,
    environment: call.flags.environment ?? (named === "" ? undefined : named),
    concurrency: call.flags.concurrency,
    tags: call.flags.tag ?? [],
    commands: call.flags["no-commands"] === undefined,
    acceptsRoleBypass: call.flags["accept-role-bypass"] === true,
    metrics: call.flags.metrics,
    facts,
    user: readUserName(),
    ttl: settings.ttl / 1000,
    terminationTimeout: settings.terminationTimeout,
    readMemberClocks: (signal: AbortSignal) =>
      readMemberClocks(buildStoreOptions(settings), clock.getWallTime, signal),
    output: buildOutputStorage(call, settings, env),
    archive: buildArchiveOptions(settings),
    secrets: settings.password === undefined ? [] : [settings.password],
  };
}
