import type { Clock } from "../../core/base/clock.ts";
import type { LogFields } from "../../core/base/log.ts";
import type { Random } from "../../core/base/random.ts";
import { quoteText } from "../../core/base/text.ts";
import { type Config, resolveConfig } from "../../core/config/config.ts";
import type { ConfigLayer } from "../../core/config/layers.ts";
import { thisMachine } from "../../core/config/machine.ts";
import { findStrayVariables } from "../../core/config/scrub.ts";
import type { SettingKey, Settings } from "../../core/config/settings.ts";
import { openStore } from "../../core/etcd/open.ts";
import type { Store } from "../../core/etcd/store.ts";
import { buildStoreOptions } from "../../core/etcd/store-options.ts";
import { type HostFacts, readHostFacts } from "../../core/fleet/host.ts";
import { createRealClock } from "../../core/process/clock.ts";
import { realRandom } from "../../core/process/random.ts";
import { createKeys, type Keys } from "../../core/protocol/keys.ts";
import { type Call, CONNECTION_SETTINGS, type CommandIo } from "./command.ts";
import { type LogSink, openLog } from "./logging.ts";

/** The ports and settings of a command that uses etcd. */
export interface CommandConnection {
  config: Config;
  settings: Settings;
  store: Store;
  keys: Keys;
  clock: Clock;
  random: Random;
  log: LogSink;
  /** Fields of every line of a JSON log. Callers may add to them. */
  logContext: LogFields;
  facts: HostFacts;
}

export interface FrontEndOptions {
  /** Settings that take precedence over all others. */
  options?: ConfigLayer;
  /** Opens a log in another format. @param wall  wall clock, ms since the epoch */
  openLog?(settings: Settings, wall: () => number): LogSink;
  /** Puts all watches on one stream, for a process with many. */
  sharesWatches?: boolean;
  /** The transport `auto` means gRPC, for a process that runs long. */
  prefersGrpc?: boolean;
  clock?: Clock;
  random?: Random;
  /** Tells a user at the terminal when etcd does not answer. */
  tellsSilence?: boolean;
}

/**
 * Resolves the configuration and opens the log and the store. The first call connects to etcd.
 * @throws ConfigError, UsageError
 */
export async function openConnection(
  call: Call<object>,
  io: CommandIo,
  frontEnd: FrontEndOptions = {},
): Promise<CommandConnection> {
  const { options, openLog: openOwn, sharesWatches = false, prefersGrpc = false } = frontEnd;
  const { clock = createRealClock(), random = realRandom } = frontEnd;
  const config = resolveConfig({ flags: call.settings, env: io.env, ...(options && { options }) });
  const { values } = config;
  const facts = readHostFacts(thisMachine, { host: values.host, macros: values.macros });
  const logContext: LogFields = { host: facts.fqdn };
  const logging = { ...buildLogOptions(call, values), context: logContext };
  const log = openOwn?.(values, clock.getWallTime) ?? openLog(logging, clock.getWallTime);
  warnUnknownVariables(io.env, log);
  warnOverriddenContext(config, log);
  const storeOptions = { ...buildStoreOptions(values), sharesWatches, prefersGrpc };
  const onSilence = frontEnd.tellsSilence ? createSilenceReporter(call, io, log) : undefined;
  const store = await openStore(storeOptions, { clock, random, onSilence });
  return {
    config,
    settings: values,
    store,
    keys: createKeys(values.prefix),
    clock,
    random,
    log,
    logContext,
    facts,
  };
}

/**
 * Creates a function that says what is tried while etcd does not answer: to a user at the terminal, otherwise only in the log, because
 * cron mails what is printed.
 */
function createSilenceReporter({ verbosity }: Call<object>, io: CommandIo, log: LogSink) {
  return ({ message }: Error) => {
    const text = `etcd has not answered yet, trying again: ${message}`;
    if (verbosity >= 0 && io.terminal.canAsk()) io.writeMessage(text);
    else log.info(text);
  };
}

/** Warns about misspelled variables: they have no effect, and the default may refer to another cluster. */
export function warnUnknownVariables(env: CommandIo["env"], log: LogSink): void {
  for (const { name, meant } of findStrayVariables(env)) {
    if (meant !== undefined) log.warn(`unknown variable ${quoteText(name)}; did you mean ${meant}?`);
  }
}

/**
 * Warns if a variable overrides how to reach the cluster of a context that this call or its environment chose: the user may
 * look at another cluster than the one that was named. A context that a file chooses is a default, which variables override.
 */
export function warnOverriddenContext(config: Config, log: LogSink): void {
  const { context } = config.values;
  if (context === undefined || !/^(flag|environment|option) /.test(config.sources.context)) return;
  for (const { key, source } of findOverridingVariables(config))
    log.warn(`${key} of the context ${context} has no effect: ${source} overrides it`);
}

/** Finds the variables that override how to reach the cluster of the active context. */
export function findOverridingVariables({
  overridden,
  sources,
}: Config): { key: SettingKey; source: string }[] {
  return overridden
    .filter((key) => CONNECTION_SETTINGS.includes(key) && sources[key].startsWith("environment "))
    .map((key) => ({ key, source: sources[key] }));
}

export function buildLogOptions(
  { verbosity }: Call<object>,
  { logFile: file, logLevel, logFormat: format }: Settings,
) {
  const asked = verbosity >= 2 ? ("debug" as const) : verbosity === 1 ? ("info" as const) : undefined;
  return { file, level: asked ?? logLevel, format, isQuiet: verbosity < 0 };
}
