import { constants } from "node:os";
import { EXIT } from "../../base/errors.ts";
import { resolveConfig } from "../../config/config.ts";
import { guardianHost } from "../../process/host.ts";
import { userName } from "../../process/user.ts";
import { Worker, type WorkerOptions } from "../../work/worker/worker.ts";
import { type Connection, connect } from "../connect.ts";
import { countFlag, listFlag, textFlag } from "../flags.ts";
import type { Call, Execute, Surroundings } from "../spec.ts";

const LEAVING: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGQUIT"];
const RELOADING: readonly NodeJS.Signals[] = ["SIGHUP", "SIGUSR1"];

/** What a front end has read of the worker's file, and its tool's own defaults. */
type Given = Pick<WorkerOptions, "keysRead" | "usual">;

export const execute: Execute = (call, world) => work(call, world);

/** Works until it is told to leave. @returns the exit code @throws ConfigError, UsageError, StoreError */
export async function work(call: Call, world: Surroundings, given: Given = {}): Promise<number> {
  const connection = await connect(talkative(call, world), world);
  const { store, log } = connection;
  let stop = () => {};
  try {
    const options = { ...optionsOf(call, connection, world), ...given };
    const worker = await Worker.create(portsOf(connection, world), options);
    const ending = new AbortController();
    let leaving = 0;
    let forced: NodeJS.Signals | undefined;
    stop = world.onSignal((name) => {
      if (name === "SIGUSR2") log.reopen();
      else if (RELOADING.includes(name)) worker.reload();
      else if (LEAVING.includes(name)) {
        leaving += 1;
        if (leaving === 1) worker.leave(name);
        else {
          forced ??= name;
          ending.abort(new Error(`the worker got ${name} again`));
        }
      }
    });
    await worker.run(ending.signal);
    return forced === undefined ? EXIT.ok : 128 + constants.signals[forced];
  } finally {
    stop();
    store.close();
  }
}

/** Whoever runs a worker wants to see what it does, unless the configuration says otherwise. */
function talkative(call: Call, { env }: Surroundings): Call {
  if (call.verbosity !== 0) return call;
  const { sources } = resolveConfig({ flags: call.settings, env });
  return sources.logLevel === "default" ? { ...call, verbosity: 1 } : call;
}

function portsOf({ store, keys, clock, random, log, settings }: Connection, world: Surroundings) {
  const { connectTimeout } = settings;
  const commands = guardianHost(clock);
  return { store, keys, clock, random, log, commands, env: world.env, settings: { connectTimeout } };
}

function optionsOf(call: Call, { settings, facts }: Connection, { env }: Surroundings) {
  const { SIGNALBOX_ENV: named = "" } = env;
  return {
    file: textFlag(call, "handlers"),
    environment: textFlag(call, "environment") ?? (named === "" ? undefined : named),
    concurrency: countFlag(call, "concurrency", 1),
    tags: listFlag(call, "tag"),
    commands: call.flags["no-commands"] === undefined,
    metrics: textFlag(call, "metrics"),
    facts,
    user: userName(),
    ttl: settings.ttl / 1000,
    terminationTimeout: settings.terminationTimeout,
    secrets: settings.password === undefined ? [] : [settings.password],
  };
}
