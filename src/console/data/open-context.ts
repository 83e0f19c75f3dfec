import { ConfigError } from "../../base/errors.ts";
import { findOverridingVariables, openConnection } from "../../commands/connect.ts";
import { type Call, CONNECTION_SETTINGS, type CommandIo } from "../../commands/spec.ts";
import type { CommandContext } from "../../commands/store-command.ts";

/** What the console of one context is built from. */
export interface OpenedContext {
  call: Call;
  context: CommandContext;
}

/**
 * Opens the connection of another context. Contacts no server yet.
 * @param first  as the console was started
 * @param name  undefined for the settings that the console was started with
 * @throws ConfigError, also if a variable overrides how the cluster is reached: another cluster would be shown under this name
 */
export async function openContext(
  first: OpenedContext,
  io: CommandIo,
  name: string | undefined,
): Promise<OpenedContext> {
  const call = name === undefined ? first.call : chooseContext(first.call, name);
  const connection = await openConnection(call, io);
  const [overriding] = name === undefined ? [] : findOverridingVariables(connection.config);
  if (overriding !== undefined) {
    connection.store.close();
    throw new ConfigError(
      `${overriding.key} of the context ${name} has no effect: ${overriding.source} overrides it; start the console without it`,
    );
  }
  const { operator, ...rest } = first.context;
  return {
    call,
    context: { ...rest, ...connection, operator: { ...operator, host: connection.facts.fqdn } },
  };
}

/** Returns the call with another context, without the flags that say how to reach the cluster of the first one. */
function chooseContext(call: Call, name: string): Call {
  return { ...call, settings: { ...removeConnectionFlags(call.settings), context: name } };
}

/** Returns the flags without those that choose a cluster. */
export function removeConnectionFlags(settings: Call["settings"]): Call["settings"] {
  const choosing: readonly string[] = [...CONNECTION_SETTINGS, "context"];
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !choosing.includes(key)));
}
