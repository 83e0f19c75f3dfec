import type { Config } from "../../../config/config.ts";
import { openStore } from "../../../etcd/open/open.ts";
import { buildStoreOptions } from "../../../etcd/open/store-options.ts";
import { createKeys } from "../../../protocol/keys.ts";
import type { CommandConnection } from "../../connect.ts";

/**
 * Asks the cluster of a configuration whether it answers: one small read, on a connection that is closed afterwards.
 * @throws StoreError, ConfigError, the signal's reason
 */
export async function askCluster(
  { values }: Config,
  { clock, random }: Pick<CommandConnection, "clock" | "random">,
  signal: AbortSignal,
): Promise<void> {
  const store = await openStore(buildStoreOptions(values), { clock, unit: random.generateFraction });
  try {
    await store.readRange({ key: createKeys(values.prefix).group("-"), countOnly: true }, signal);
  } finally {
    store.close();
  }
}
