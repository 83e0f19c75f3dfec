import { SignalboxError } from "../../../core/base/errors.ts";
import {
  type Config,
  type ContextEntry,
  listNamedContexts,
  resolveConfig,
} from "../../../core/config/config.ts";
import { openStore } from "../../../core/etcd/open.ts";
import { buildStoreOptions } from "../../../core/etcd/store-options.ts";
import { createKeys } from "../../../core/protocol/keys.ts";
import type { ObserverPorts } from "../../../site/observe/ports.ts";
import type { Call, CommandIo } from "../../frame/command.ts";
import type { CommandConnection } from "../../frame/connect.ts";

/** A context of the configuration, as a command with `--context` would use it. */
export interface ContextSummary extends ContextEntry {
  isActive: boolean;
  /** Its resolved settings, or why no command can use it. */
  config: Config | { fault: string };
}

/** What names the configuration files and the active context. */
interface ContextSource {
  settings: Call["settings"];
  env: CommandIo["env"];
}

/** Describes all contexts. A context that cannot be used does not hide the others. @throws ConfigError for a file */
export function describeContexts({ settings, env }: ContextSource): ContextSummary[] {
  const active = findActiveContext({ settings, env });
  return listNamedContexts(settings, env).map((entry) => ({
    ...entry,
    isActive: entry.name === active,
    config: resolveContext({ settings, env }, entry.name),
  }));
}

/** Resolves the settings with another context. */
function resolveContext({ settings, env }: ContextSource, name: string): ContextSummary["config"] {
  try {
    return resolveConfig({ flags: { ...settings, context: name }, env });
  } catch (error) {
    if (error instanceof SignalboxError) return { fault: error.message };
    throw error;
  }
}

/** Returns the active context; undefined if there is none, or if the configuration cannot be used with it. */
function findActiveContext({ settings, env }: ContextSource): string | undefined {
  const { context } = settings;
  if (typeof context === "string") return context;
  try {
    return resolveConfig({ flags: settings, env }).values.context;
  } catch {
    return env.SIGNALBOX_CONTEXT || undefined;
  }
}

/**
 * Connects to the cluster of a configuration for one use.
 * @throws StoreError, ConfigError; as `use`
 */
export async function withCluster<T>(
  { values }: Config,
  { clock, random }: Pick<CommandConnection, "clock" | "random">,
  use: (cluster: ObserverPorts) => Promise<T>,
): Promise<T> {
  const store = await openStore(buildStoreOptions(values), { clock, random });
  try {
    return await use({ store, keys: createKeys(values.prefix), clock, random, settings: values });
  } finally {
    store.close();
  }
}
